package terminal

import (
	"strings"
	"unicode"
)

// Plain is s on one line, without control characters.
func Plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		return harmless(r)
	}, s)
}

// Text is s without control characters except newlines and tabs. Text of a model
// could otherwise rename the window, fill the clipboard or hide itself.
func Text(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		return harmless(r)
	}, s)
}

// harmless refuses control characters, and bidirectional marks, with which a name
// could look like another one.
func harmless(r rune) rune {
	if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
		return -1
	}
	return r
}
