package openapi

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// replaceLoneSurrogates replaces the escape of each lone surrogate by \ufffd, which has the
// same length. A backslash outside of strings, which is not JSON, may be mistaken for an
// escape.
func replaceLoneSurrogates(text []byte) {
	for at := 0; at < len(text); {
		next := bytes.IndexByte(text[at:], '\\')
		if next < 0 {
			return
		}
		at += next
		first := escapedRune(text[at:])
		switch {
		case first < 0:
			at += 2 // another escape
		case !utf16.IsSurrogate(first):
			at += len(replacement)
		case utf16.DecodeRune(first, escapedRune(text[at+len(replacement):])) != utf8.RuneError:
			at += 2 * len(replacement)
		default:
			at += copy(text[at:], replacement)
		}
	}
}

const replacement = `\ufffd`

// escapedRune returns the code unit of the \uXXXX escape that a text begins with, or -1.
func escapedRune(text []byte) rune {
	if len(text) < len(replacement) || text[0] != '\\' || text[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(text[2:len(replacement)]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}
