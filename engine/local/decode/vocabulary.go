package decode

import (
	"strings"

	"github.com/diglot/diglot/engine/chat"
)

// tokenKind is what a token is besides text.
type Kind uint8

const (
	KindControl   Kind = 1 << iota // its spelling is not text; it comes out only as a marker
	KindUser                       // user-defined: one token for a spelling that is text
	KindEndOfTurn                  // ends the generation
)

// Vocabulary is the model's table of tokens, copied out of llama.cpp once:
// a token's text costs no call afterwards.
type Vocabulary struct {
	text   []byte   // of all tokens, control tokens spelled out
	offset []uint32 // of token i is text[offset[i]:offset[i+1]]
	Kinds  []Kind
	Bos    int32   // -1: none
	Eos    int32   // -1: none
	AddBOS bool    // a prompt begins with bos
	Ending []int32 // what the tokenizer adds behind a text that is whole

	Fim chat.FIM

	Control map[string]int32 // spelling of each control and user-defined token
}

func (v *Vocabulary) Size() int { return len(v.Kinds) }

func (v *Vocabulary) Is(token int32, kind Kind) bool { return v.Kinds[token]&kind != 0 }

// Spelling is the token's text; of a control token, as a template writes it.
func (v *Vocabulary) Spelling(token int32) []byte {
	return v.text[v.offset[token]:v.offset[token+1]:v.offset[token+1]]
}

// Add appends a token, while the table is filled.
func (v *Vocabulary) Add(text []byte, kind Kind) {
	if v.Control == nil {
		v.Control = map[string]int32{}
		v.offset = append(v.offset, 0)
	}
	token := int32(len(v.Kinds))
	v.text = append(v.text, text...)
	v.offset = append(v.offset, uint32(len(v.text)))
	v.Kinds = append(v.Kinds, kind)
	// Some models (Gemma) have user-defined tokens for runs of line ends or
	// blanks. They are text like any other: nobody is fooled by them.
	if kind&(KindControl|KindUser) != 0 && strings.TrimSpace(string(text)) != "" {
		v.Control[string(text)] = token
	}
}

// Spelled gives the text of a token, or nothing for -1.
func (v *Vocabulary) Spelled(token int32) string {
	if token < 0 {
		return ""
	}
	return string(v.Spelling(token))
}

// markerSet is the control tokens that one job wants as text.
func (v *Vocabulary) markerSet(spellings []string) map[int32]bool {
	set := make(map[int32]bool, len(spellings))
	for _, s := range spellings {
		if token, ok := v.Control[s]; ok {
			set[token] = true
		}
	}
	return set
}

// output is the text that a token adds: nothing for a control token that is
// not a marker.
func (v *Vocabulary) output(token int32, markers map[int32]bool) []byte {
	if v.Is(token, KindControl) && !markers[token] {
		return nil
	}
	return v.Spelling(token)
}
