package mock

import (
	"unicode"
	"unicode/utf8"
)

// maxWord is the most letters and digits of one token.
const maxWord = 8

// next returns the length of the first token of a text that is not empty.
func next(text string) int {
	n := 0
	if text[0] == ' ' && len(text) > 1 {
		n = 1
	}
	r, size := utf8.DecodeRuneInString(text[n:])
	if !isWord(r) {
		if n == 1 && unicode.IsSpace(r) {
			return 1
		}
		return n + size
	}
	for range maxWord {
		r, size := utf8.DecodeRuneInString(text[n:])
		if size == 0 || !isWord(r) {
			break
		}
		n += size
	}
	return n
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// split splits a text into tokens.
func split(text string) []string {
	var tokens []string
	for text != "" {
		n := next(text)
		tokens = append(tokens, text[:n])
		text = text[n:]
	}
	return tokens
}

// count returns the number of tokens in a text.
func count(text string) int {
	total := 0
	for text != "" {
		text = text[next(text):]
		total++
	}
	return total
}
