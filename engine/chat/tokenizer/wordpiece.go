package tokenizer

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// wordPiece splits each word greedily into the longest tokens. If any part has no token,
// the whole word is unknown. It lowercases and strips accents, so its tokens do not
// decode to the text. Embedding models use it.
type wordPiece struct {
	classes classes
	tokens  *Spellings
	ids     map[string]int32
	unknown int32
}

func newWordPiece(v *Vocabulary) *wordPiece {
	w := &wordPiece{classes: newClasses(), ids: make(map[string]int32, len(v.Texts)), unknown: v.Unknown}
	var texts []string
	for i, text := range v.Texts {
		if v.Kinds[i] == Normal {
			w.ids[text] = int32(i)
			texts = append(texts, text)
		}
	}
	w.tokens = NewSpellings(texts)
	return w
}

// append implements [algorithm].
func (w *wordPiece) append(e *encoding, text string, _ bool) error {
	word := e.buffer[:0]
	flush := func() error {
		err := w.word(e, word)
		word = word[:0]
		return err
	}
	for _, r := range text {
		r = base(r)
		c := w.classes.of(r)
		if c.is(space) {
			if err := flush(); err != nil {
				return err
			}
			continue
		}
		if r == 0 || r == utf8.RuneError || c.is(control) {
			continue
		}
		alone := c.is(punctuation) || r < 0x7f && c.is(symbol) || isIdeograph(r)
		if alone {
			if err := flush(); err != nil {
				return err
			}
		}
		if len(word) == 0 {
			word = utf8.AppendRune(word, wordSpace)
		}
		word = utf8.AppendRune(word, lower(r))
		if alone {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

func (w *wordPiece) word(e *encoding, word []byte) error {
	if len(word) == 0 {
		return nil
	}
	text := string(word)
	return e.piece(len(text), func(n int) error {
		before := len(e.tokens)
		for rest := cut(text, n); rest != ""; {
			length := w.tokens.Longest(rest)
			if length == 0 {
				e.tokens = e.tokens[:before]
				if w.unknown >= 0 {
					e.tokens = append(e.tokens, w.unknown)
				}
				return nil
			}
			e.tokens = append(e.tokens, w.ids[rest[:length]])
			rest = rest[length:]
		}
		return nil
	})
}

// base strips accents.
func base(r rune) rune {
	if r < utf8.RuneSelf || unicode.Is(assignedLater, r) {
		return r
	}
	if r >= 0xac00 && r <= 0xd7a3 { // the leading jamo of a Hangul syllable
		return 0x1100 + (r-0xac00)/588
	}
	var buf [utf8.UTFMax]byte
	n := utf8.EncodeRune(buf[:], r)
	if d := norm.NFD.Properties(buf[:n]).Decomposition(); len(d) > 0 {
		r, _ = utf8.DecodeRune(d)
	}
	return r
}

func lower(r rune) rune {
	if r >= utf8.RuneSelf && unicode.Is(assignedLater, r) {
		return r
	}
	return unicode.ToLower(r)
}

// isIdeograph reports whether the character is a word of its own.
func isIdeograph(r rune) bool {
	switch {
	case r < 0x3400:
		return false
	case r <= 0x4dbf, r >= 0x4e00 && r <= 0x9fff, r >= 0xf900 && r <= 0xfaff:
		return true
	}
	return r >= 0x20000 && r <= 0x2a6df || r >= 0x2a700 && r <= 0x2b81f || r >= 0x2b920 && r <= 0x2ceaf || r >= 0x2f800 && r <= 0x2fa1f
}
