package decode

import (
	"strings"

	"github.com/diglot/diglot/engine/chat/prompt"
)

// Kind is a set of token attributes.
type Kind uint8

const (
	KindControl   Kind = 1 << iota // not part of the output unless it is a marker
	KindUser                       // user-defined: special when tokenizing, text in the output
	KindEndOfTurn                  // llama.cpp's EOG: ends generation
)

// Vocabulary is a copy of the model's vocabulary, which saves a cgo call per
// token.
type Vocabulary struct {
	text   []byte   // of all tokens
	offset []uint32 // token i is text[offset[i]:offset[i+1]]
	Kinds  []Kind
	BOS    int32   // -1: none
	EOS    int32   // -1: none
	AddBOS bool    // prompts begin with BOS
	Suffix []int32 // appended to inputs of embeddings

	FIM prompt.FIM

	Control map[string]int32 // control and user-defined tokens by their text
}

func (v *Vocabulary) Size() int { return len(v.Kinds) }

func (v *Vocabulary) Is(token int32, kind Kind) bool { return v.Kinds[token]&kind != 0 }

// Bytes returns the token's text; of a control token, as a template writes it.
func (v *Vocabulary) Bytes(token int32) []byte {
	return v.text[v.offset[token]:v.offset[token+1]:v.offset[token+1]]
}

// Add appends a token.
func (v *Vocabulary) Add(text []byte, kind Kind) {
	if v.Control == nil {
		v.Control = map[string]int32{}
		v.offset = append(v.offset, 0)
	}
	token := int32(len(v.Kinds))
	v.text = append(v.text, text...)
	v.offset = append(v.offset, uint32(len(v.text)))
	v.Kinds = append(v.Kinds, kind)
	// Gemma has user-defined tokens for runs of newlines or spaces. These are
	// harmless as text.
	if kind&(KindControl|KindUser) != 0 && strings.TrimSpace(string(text)) != "" {
		v.Control[string(text)] = token
	}
}

// Text returns the text of a token, or "" for -1.
func (v *Vocabulary) Text(token int32) string {
	if token < 0 {
		return ""
	}
	return string(v.Bytes(token))
}

// markerSet returns the control tokens that a job wants as text.
func (v *Vocabulary) markerSet(spellings []string) map[int32]bool {
	set := make(map[int32]bool, len(spellings))
	for _, s := range spellings {
		if token, ok := v.Control[s]; ok {
			set[token] = true
		}
	}
	return set
}

// output returns the text that a token adds to the output.
func (v *Vocabulary) output(token int32, markers map[int32]bool) []byte {
	if v.Is(token, KindControl) && !markers[token] {
		return nil
	}
	return v.Bytes(token)
}
