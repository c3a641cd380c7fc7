package tokenizer

import (
	"errors"
	"fmt"
)

// Tokenizer tokenizes text. It is safe for concurrent use.
type Tokenizer struct {
	algorithm   algorithm
	longest     int              // bytes of the longest token
	special     map[string]int32 // special tokens by text, but for white space
	blanks      *Spellings       // user-defined tokens of white space; nil: none
	blank       map[string]int32
	stripBefore map[int32]bool
	stripBehind map[int32]bool
}

// algorithm is BPE, SentencePiece or WordPiece.
type algorithm interface {
	// append appends the tokens of a text without special tokens. first: it begins a
	// prompt or follows a special token.
	append(e *encoding, text string, first bool) error
}

// ErrKind is the error for an unsupported tokenizer model.
var ErrKind = errors.New("unknown kind of tokenizer")

// ErrMany is the error for a text with more tokens than the limit.
var ErrMany = errors.New("too many tokens")

// New returns the tokenizer of a vocabulary, which the caller must not change, or
// [ErrKind].
func New(v *Vocabulary) (*Tokenizer, error) {
	if err := v.check(); err != nil {
		return nil, err
	}
	t := &Tokenizer{}
	switch v.Model {
	case "gpt2":
		t.algorithm = newBPE(v)
	case "llama":
		t.algorithm = newSPM(v)
	case "bert":
		t.algorithm = newWordPiece(v)
	default:
		return nil, fmt.Errorf("%w: %q", ErrKind, v.Model)
	}
	t.readSpecial(v)
	return t, nil
}

func (t *Tokenizer) readSpecial(v *Vocabulary) {
	t.special, t.blank = map[string]int32{}, map[string]int32{}
	var blanks []string
	for i, text := range v.Texts {
		t.longest = max(t.longest, len(text))
		switch {
		case text == "" || !v.Kinds[i].special():
		case !blank(text):
			t.special[text] = int32(i)
		case v.Kinds[i] == UserDefined:
			t.blank[text] = int32(i)
			blanks = append(blanks, text)
		}
	}
	if len(blanks) > 0 {
		t.blanks = NewSpellings(blanks)
	}
	t.stripBefore = t.stripping(v.stripBefore)
	t.stripBehind = t.stripping(v.stripBehind)
}

func (t *Tokenizer) stripping(strips func(string) bool) map[int32]bool {
	set := map[int32]bool{}
	for spelling, id := range t.special {
		if strips != nil && strips(spelling) {
			set[id] = true
		}
	}
	return set
}

// Special returns the special token with this text, and whether there is one.
func (t *Tokenizer) Special(text string) (int32, bool) {
	id, ok := t.special[text]
	return id, ok
}
