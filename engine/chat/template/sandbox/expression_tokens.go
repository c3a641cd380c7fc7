package sandbox

import (
	"fmt"
	"strings"
)

// tokenKind is the kind of a token.
type tokenKind byte

const (
	tokenEnd    tokenKind = iota
	tokenName             // of a variable, filter or test, or a keyword
	tokenNumber           // without a sign
	tokenFloat
	tokenString   // with its quotes
	tokenOperator // an operator or a bracket
)

type token struct {
	kind tokenKind
	text string
}

// is reports whether t is this operator or bracket.
func (t token) is(mark string) bool { return t.kind == tokenOperator && t.text == mark }

// isKeyword reports whether t is this keyword.
func (t token) isKeyword(keyword string) bool { return t.kind == tokenName && t.text == keyword }

// The operators and brackets, of two characters and of one.
const (
	longMarks  = "** // == != <= >="
	shortMarks = ",.:()[]{}|~+-*/%<>="
)

// tokenize splits an expression as the library does, which skips unknown
// characters.
func tokenize(s string) ([]token, error) {
	var all []token
	for i := 0; i < len(s); {
		kind, n := tokenAt(s[i:], len(all) > 0 && all[len(all)-1].is("."))
		if n == 0 {
			i++
			continue
		}
		text := s[i : i+n]
		if kind == tokenString && (n < 2 || text[n-1] != text[0]) {
			return nil, fmt.Errorf("a string is not closed: %.60q", text)
		}
		all = append(all, token{kind, text})
		i += n
	}
	return all, nil
}

// tokenAt is the token at the start of s and its length; 0: none. After a dot a
// number is an index.
func tokenAt(s string, dot bool) (tokenKind, int) {
	switch c := s[0]; {
	case c == '\'' || c == '"':
		return tokenString, quotedLength(s)
	case isDigit(c):
		return numberAt(s, dot)
	case isNameByte(c):
		n := 1
		for n < len(s) && isNameByte(s[n]) {
			n++
		}
		return tokenName, n
	case len(s) > 1 && strings.Contains(longMarks, s[:2]) && s[1] != ' ' && c != ' ':
		return tokenOperator, 2
	case strings.IndexByte(shortMarks, c) >= 0:
		return tokenOperator, 1
	}
	return tokenEnd, 0
}

func numberAt(s string, dot bool) (tokenKind, int) {
	digits := func(n int) int {
		for n < len(s) && isDigit(s[n]) {
			n++
		}
		return n
	}
	kind, n := tokenNumber, digits(0)
	if !dot && n+1 < len(s) && s[n] == '.' && isDigit(s[n+1]) {
		kind, n = tokenFloat, digits(n+1)
	}
	if n < len(s) && (s[n] == 'e' || s[n] == 'E') {
		kind = tokenFloat
		if n++; n < len(s) && (s[n] == '+' || s[n] == '-') {
			n++
		}
		n = digits(n)
	}
	return kind, n
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isNameByte(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || isDigit(c)
}
