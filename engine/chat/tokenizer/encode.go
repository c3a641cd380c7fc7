package tokenizer

import (
	"context"
	"math"
	"strings"
	"unicode/utf8"
)

// Part is a part of a prompt: text, or the text of a special token. Special-token text
// within other text stays text.
type Part struct {
	Text    string
	Special bool
}

// Encode appends the tokens of a prompt. Adjacent texts are joined. Text never becomes a
// control or user-defined token, except for white space, and its tokens decode to it,
// with a space prepended if AddSpace is set. A special part that is no special token is
// text.
//
// It returns [ErrMany] as soon as there must be more than limit tokens. Other errors are
// those of ctx.
func (t *Tokenizer) Encode(ctx context.Context, tokens []int32, parts []Part, limit int) ([]int32, error) {
	e := &encoding{ctx: ctx, tokens: tokens, limit: limit, longest: t.longest}
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

// text tokenizes a text. Like llama.cpp it first finds user-defined tokens of white
// space, but prepends no space after them, so that the tokens decode to the text.
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
	limit   int // of tokens
	longest int // bytes of the longest token
	steps   int
	merger  merger
	buffer  []byte
}

// check checks the limit and the context. It is called for every word.
func (e *encoding) check() error {
	if len(e.tokens) > e.limit {
		return ErrMany
	}
	if e.steps++; e.steps%checkEvery == 0 {
		return e.ctx.Err()
	}
	return nil
}

// longPiece is a length in bytes that is always merged, with some 100 MB of memory.
// Longer pieces may have bytesPerToken for each token of the limit, which only a text
// that repeats a few characters exceeds.
const longPiece = 1 << 21

// fits reports whether a piece of this size is merged at all. Merging takes memory per
// byte, and a piece may be a whole text.
func (e *encoding) fits(size int) bool {
	room := e.limit - len(e.tokens)
	if room >= math.MaxInt/max(e.longest, bytesPerToken) {
		return true
	}
	room++ // one token beyond the limit proves that it is exceeded
	return size <= room*e.longest && size <= max(longPiece, room*bytesPerToken)
}

// bytesPerToken is an upper bound for most tokens.
const bytesPerToken = 8

// piece encodes a piece that cannot be split. encode encodes its first n bytes. If the
// piece is long, a prefix is tried first: if that exceeds the limit, so does the piece,
// but for the tokens at the cut.
func (e *encoding) piece(size int, encode func(n int) error) error {
	if room := e.limit - len(e.tokens); room < math.MaxInt/bytesPerToken-2 && size/bytesPerToken > room+2 {
		before := len(e.tokens)
		if err := encode((room + 2) * bytesPerToken); err != nil {
			return err
		}
		if len(e.tokens) > e.limit {
			return ErrMany
		}
		e.tokens = e.tokens[:before]
	}
	if err := encode(size); err != nil {
		return err
	}
	return e.check()
}

// cut is the first n bytes of text, or fewer to end at a character border.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}
