package terminal

import (
	"strings"
	"unicode"
)

// Plain is s on one line, without what a terminal would obey.
func Plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		return harmless(r)
	}, s)
}

// Text is s without what a terminal would obey, but for the ends of lines
// and tabs. A text that a model writes, or that came with a model, could
// otherwise rename the window, fill the clipboard or hide what it says.
func Text(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		return harmless(r)
	}, s)
}

// harmless leaves out controls, and the marks that reorder a line: with
// these a name could look like another one.
func harmless(r rune) rune {
	if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
		return -1
	}
	return r
}
