package tokenizer

import (
	"fmt"
	"math"
	"unicode/utf8"
)

// foreign wraps another tokenizer, which may parse special tokens in text. So texts are
// split within each special-token text, and pieces that become special tokens anyway
// are split again.
type foreign struct {
	spellings *Spellings
	structure []bool // by token: special, which no text may become
	make      func(text string) ([]int32, error)
}

// NewForeign returns a [Tokenizer] that uses plain to tokenize text. plain may parse
// special tokens.
func NewForeign(v *Vocabulary, plain func(text string) ([]int32, error)) (*Tokenizer, error) {
	if len(v.Kinds) != len(v.Texts) {
		return nil, fmt.Errorf("%d tokens and %d token types", len(v.Texts), len(v.Kinds))
	}
	f := &foreign{spellings: NewSpellings(v.Special()), structure: make([]bool, len(v.Texts)), make: plain}
	for i, kind := range v.Kinds {
		f.structure[i] = kind == Control || kind == UserDefined && !blank(v.Texts[i])
	}
	t := &Tokenizer{algorithm: f}
	t.readSpecial(v)
	t.blanks = nil // plain finds them
	return t, nil
}

// foreignPiece is the longest piece in bytes, as the other tokenizer may take quadratic
// time.
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

// safe is how many leading bytes of text contain no special-token text: up to the first
// character of one, included.
func (f *foreign) safe(text string) int {
	limit := len(cut(text, foreignPiece))
	for from := range f.spellings.Find(text[:min(len(text), limit+longSpelling)]) {
		_, size := utf8.DecodeRuneInString(text[from:])
		return min(limit, from+size)
	}
	return limit
}

// longSpelling is longer than any special-token text.
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
			return nil // a character that is itself a special token
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
	if len(e.tokens) > e.limit && e.limit < math.MaxInt {
		return ErrMany
	}
	return nil
}
