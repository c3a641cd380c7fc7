package tokenizer

import (
	"fmt"
	"math"
	"unicode/utf8"
)

// foreign is a tokenizer of another kind, made by somebody else, which may find
// special tokens in a text. So it is not shown their spellings: a text is cut
// inside each, and a piece of which special tokens come all the same is cut
// again.
type foreign struct {
	spellings *Spellings
	structure []bool // by token: that no text becomes
	make      func(text string) ([]int32, error)
}

// NewForeign makes a [Tokenizer] of a kind that is not here out of a function
// that makes tokens of text, and of special tokens what it likes. Its errors are
// handed on.
func NewForeign(v *Vocabulary, plain func(text string) ([]int32, error)) (*Tokenizer, error) {
	if len(v.Kinds) != len(v.Texts) {
		return nil, fmt.Errorf("%d tokens and %d kinds of them", len(v.Texts), len(v.Kinds))
	}
	f := &foreign{spellings: NewSpellings(v.Special()), structure: make([]bool, len(v.Texts)), make: plain}
	for i, kind := range v.Kinds {
		f.structure[i] = kind == Control || kind == UserDefined && !blank(v.Texts[i])
	}
	t := &Tokenizer{algorithm: f}
	t.readSpecial(v)
	t.blanks = nil // found by the function
	return t, nil
}

// foreignPiece is how many bytes it is shown at once. Its time may grow with
// the square of them.
const foreignPiece = 1 << 16

// append implements [algorithm].
func (f *foreign) append(e *encoding, text string, _ bool) error {
	for text != "" {
		n := f.safe(text)
		if err := f.piece(e, text[:n]); err != nil {
			return err
		}
		if err := e.ctx.Err(); err != nil {
			return err
		}
		text = text[n:]
	}
	return nil
}

// safe is how many bytes of text, from its front, may be shown: up to behind
// the first character of a spelling.
func (f *foreign) safe(text string) int {
	limit := len(cut(text, foreignPiece))
	for from := range f.spellings.Find(text[:min(len(text), limit+longSpelling)]) {
		_, size := utf8.DecodeRuneInString(text[from:])
		return min(limit, from+size)
	}
	return limit
}

// longSpelling is more than what any spelling has.
const longSpelling = 1 << 10

func (f *foreign) piece(e *encoding, text string) error {
	tokens, err := f.make(text)
	if err != nil {
		return err
	}
	for _, id := range tokens {
		if id < 0 || int(id) >= len(f.structure) || !f.structure[id] {
			continue
		}
		if utf8.RuneCountInString(text) < 2 {
			return nil // a character that is nothing but structure
		}
		half := len(cut(text, len(text)/2))
		if half == 0 {
			_, half = utf8.DecodeRuneInString(text)
		}
		if err := f.piece(e, text[:half]); err != nil {
			return err
		}
		return f.piece(e, text[half:])
	}
	e.tokens = append(e.tokens, tokens...)
	if len(e.tokens) > e.most && e.most < math.MaxInt {
		return ErrMany
	}
	return nil
}
