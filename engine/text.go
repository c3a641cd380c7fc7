package engine

import (
	"strings"
	"unicode/utf8"
)

// DecodeText makes text of bytes that may be broken. What begins a character
// and does not complete it becomes one U+FFFD, as does each byte that cannot
// begin one: so do the decoders of clients (Unicode's "maximal subpart",
// WHATWG's, Python's), and so a character that a limit cut off is one mark.
func DecodeText(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	var out strings.Builder
	for len(b) > 0 {
		size, ok := FirstChar(b)
		if ok {
			out.Write(b[:size])
		} else {
			out.WriteRune(utf8.RuneError)
		}
		b = b[size:]
	}
	return out.String()
}

// FirstChar measures the character that b begins with, in bytes; where that
// is none, what stands for one in [DecodeText].
func FirstChar(b []byte) (size int, ok bool) {
	if r, size := utf8.DecodeRune(b); r != utf8.RuneError || size > 1 {
		return size, true
	}
	size = min(1, len(b))
	for size < len(b) && !utf8.FullRune(b[:size+1]) {
		size++
	}
	return size, false
}

// WholeChars is the length of b without the beginning of a character at its
// end, which more bytes may complete.
func WholeChars(b []byte) int {
	for i := len(b) - 1; i >= 0 && i >= len(b)-utf8.UTFMax; i-- {
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				return i
			}
			break
		}
	}
	return len(b)
}
