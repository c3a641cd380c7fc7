package tokenizer

import (
	"context"
	"math"
	"strings"
	"unicode/utf8"
)

// Part is a part of a prompt: text, or a special token by its spelling. Text
// that has the spelling of a special token in it stays text.
type Part struct {
	Text    string
	Special bool
}

// Encode appends the tokens of the parts of a prompt to tokens. Texts that
// stand beside each other are one. No token of a text is a control token or a
// user-defined one, save for those of white space, and they spell the text;
// where the file says so, a blank is put in front of it. A special part that is
// the spelling of none is text.
//
// Once there are more than most tokens, or when that is sure, it ends with
// [ErrMany]. Other errors are those of ctx.
func (t *Tokenizer) Encode(ctx context.Context, tokens []int32, parts []Part, most int) ([]int32, error) {
	e := &encoding{ctx: ctx, tokens: tokens, most: most, longest: t.longest}
	first, stripped := true, false
	for len(parts) > 0 {
		if id, ok := t.specialPart(parts[0]); ok {
			e.tokens = append(e.tokens, id)
			first, stripped = true, t.stripBehind[id]
			parts = parts[1:]
			if err := e.check(); err != nil {
				return e.tokens, err
			}
			continue
		}
		n := 1
		for n < len(parts) {
			if _, ok := t.specialPart(parts[n]); ok {
				break
			}
			n++
		}
		text := join(parts[:n])
		parts = parts[n:]
		if stripped {
			text = strings.TrimLeft(text, asciiSpace)
		}
		if len(parts) > 0 {
			if id, _ := t.specialPart(parts[0]); t.stripBefore[id] {
				text = strings.TrimRight(text, asciiSpace)
			}
		}
		if err := t.text(e, text, first); err != nil {
			return e.tokens, err
		}
		first, stripped = false, false
	}
	return e.tokens, nil
}

const asciiSpace = " \t\n\v\f\r"

func (t *Tokenizer) specialPart(p Part) (int32, bool) {
	if !p.Special {
		return 0, false
	}
	return t.Special(p.Text)
}

func join(parts []Part) string {
	if len(parts) == 1 {
		return parts[0].Text
	}
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

// text appends the tokens of a text. User-defined tokens of white space are
// found in it first, as llama.cpp does. What follows them gets no blank in
// front, though: the tokens spell the text.
func (t *Tokenizer) text(e *encoding, text string, first bool) error {
	done := 0
	if t.blanks != nil {
		for from, to := range t.blanks.Find(text) {
			if err := t.between(e, text[done:from], first && done == 0); err != nil {
				return err
			}
			e.tokens = append(e.tokens, t.blank[text[from:to]])
			if err := e.check(); err != nil {
				return err
			}
			done = to
		}
	}
	return t.between(e, text[done:], first && done == 0)
}

func (t *Tokenizer) between(e *encoding, text string, first bool) error {
	if text == "" {
		return nil
	}
	return t.algorithm.append(e, text, first)
}

// encoding is the state of one call.
type encoding struct {
	ctx     context.Context
	tokens  []int32
	most    int // tokens that are enough
	longest int // bytes of a token, at most
	steps   int
	merger  merger
	buffer  []byte
}

// check looks whether to go on. It is called for every piece of a text.
func (e *encoding) check() error {
	if len(e.tokens) > e.most {
		return ErrMany
	}
	if e.steps++; e.steps%checkEvery == 0 {
		return e.ctx.Err()
	}
	return nil
}

// longPiece is how many bytes a piece may always have: joining them takes some
// 100 MB. Longer ones may have as many as the tokens that are wanted have in any
// text but one of a few characters, over and over.
const longPiece = 1 << 21

// fits reports whether a piece of so many bytes is encoded at all. Joining takes
// memory for each byte, and a piece may be all of a text.
func (e *encoding) fits(size int) bool {
	room := e.most - len(e.tokens)
	if room >= math.MaxInt/max(e.longest, bytesPerToken) {
		return true
	}
	room++ // one more shows that they are too many
	return size <= room*e.longest && size <= max(longPiece, room*bytesPerToken)
}

// bytesPerToken is what few tokens have more of.
const bytesPerToken = 8

// piece encodes a piece of a text, of so many bytes, that nothing but itself
// can cut. encode does so for its first n bytes. A piece that is too long for
// sure is not read to its end: where its front alone has too many tokens, so
// has all of it, give or take those at the cut.
func (e *encoding) piece(size int, encode func(n int) error) error {
	if room := e.most - len(e.tokens); room < math.MaxInt/bytesPerToken-2 && size/bytesPerToken > room+2 {
		before := len(e.tokens)
		if err := encode((room + 2) * bytesPerToken); err != nil {
			return err
		}
		if len(e.tokens) > e.most {
			return ErrMany
		}
		e.tokens = e.tokens[:before]
	}
	if err := encode(size); err != nil {
		return err
	}
	return e.check()
}

// cut is the first n bytes of text, or fewer, so that they end with a whole
// character.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}
