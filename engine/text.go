package engine

import (
	"strings"
	"unicode/utf8"
)

// DecodeText decodes bytes that may be invalid UTF-8. A truncated character
// becomes one U+FFFD, as does each byte that cannot begin one. Clients decode
// the same way (Unicode's "maximal subpart", WHATWG, Python).
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

// FirstChar returns the size in bytes of b's first character. If that is
// invalid, ok is false and size is what [DecodeText] replaces by one U+FFFD.
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

// WholeChars returns the length of b without an incomplete character at its
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
