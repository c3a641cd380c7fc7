package llamacpp

import (
	"strings"

	"github.com/diglot/diglot/engine/chat"
)

// tokenKind is what a token is besides text.
type tokenKind uint8

const (
	kindControl   tokenKind = 1 << iota // its spelling is not text; it comes out only as a marker
	kindUser                            // user-defined: one token for a spelling that is text
	kindEndOfTurn                       // ends the generation
)

// vocabulary is the model's table of tokens, copied out of llama.cpp once:
// a token's text costs no call afterwards.
type vocabulary struct {
	text   []byte   // of all tokens, control tokens spelled out
	offset []uint32 // of token i is text[offset[i]:offset[i+1]]
	kinds  []tokenKind
	bos    int32   // -1: none
	eos    int32   // -1: none
	addBOS bool    // a prompt begins with bos
	ending []int32 // what the tokenizer adds behind a text that is whole

	fim chat.FIM

	control map[string]int32 // spelling of each control and user-defined token
}

func (v *vocabulary) size() int { return len(v.kinds) }

func (v *vocabulary) is(token int32, kind tokenKind) bool { return v.kinds[token]&kind != 0 }

// spelling is the token's text; of a control token, as a template writes it.
func (v *vocabulary) spelling(token int32) []byte {
	return v.text[v.offset[token]:v.offset[token+1]:v.offset[token+1]]
}

// add appends a token, while the table is filled.
func (v *vocabulary) add(text []byte, kind tokenKind) {
	if v.control == nil {
		v.control = map[string]int32{}
		v.offset = append(v.offset, 0)
	}
	token := int32(len(v.kinds))
	v.text = append(v.text, text...)
	v.offset = append(v.offset, uint32(len(v.text)))
	v.kinds = append(v.kinds, kind)
	// Some models (Gemma) have user-defined tokens for runs of line ends or
	// blanks. They are text like any other: nobody is fooled by them.
	if kind&(kindControl|kindUser) != 0 && strings.TrimSpace(string(text)) != "" {
		v.control[string(text)] = token
	}
}

// spelled gives the text of a token, or nothing for -1.
func (v *vocabulary) spelled(token int32) string {
	if token < 0 {
		return ""
	}
	return string(v.spelling(token))
}

// markerSet is the control tokens that one job wants as text.
func (v *vocabulary) markerSet(spellings []string) map[int32]bool {
	set := make(map[int32]bool, len(spellings))
	for _, s := range spellings {
		if token, ok := v.control[s]; ok {
			set[token] = true
		}
	}
	return set
}

// output is the text that a token adds: nothing for a control token that is
// not a marker.
func (v *vocabulary) output(token int32, markers map[int32]bool) []byte {
	if v.is(token, kindControl) && !markers[token] {
		return nil
	}
	return v.spelling(token)
}
