package report

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// hide replaces secrets, in each spelling that a reader would see through; longer ones
// first, as one may begin with another.
func hide(text string, secrets []string) string {
	secrets = slices.Clone(secrets)
	slices.SortFunc(secrets, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	var b strings.Builder
	for at := 0; at < len(text); {
		n := 0
		for _, secret := range secrets {
			if n, _ = spells(text[at:], secret); n > 0 {
				break
			}
		}
		if n == 0 {
			b.WriteByte(text[at])
			at++
			continue
		}
		b.WriteString("[secret]")
		at += n
	}
	return b.String()
}

// begun is where the text ends if a secret that begins at its end is left out.
func begun(text string, secrets []string) int {
	for at := range len(text) {
		for _, secret := range secrets {
			if _, more := spells(text[at:], secret); more {
				return at
			}
		}
	}
	return len(text)
}

// spells returns the length of a secret at the start of a text: its characters or their
// escapes in JSON and Go, and between them anything that is not seen. more reports whether
// the text ends within the secret.
func spells(text, secret string) (n int, more bool) {
	for at := range secret {
		want, _ := utf8.DecodeRuneInString(secret[at:])
		for {
			if n == len(text) {
				return 0, at > 0
			}
			got, size := character(text[n:])
			plain, width := utf8.DecodeRuneInString(text[n:])
			if plain == want {
				got, size = plain, width
			}
			if size == 0 { // within an escape
				return 0, true
			}
			n += size
			if got == want {
				break
			}
			if at == 0 || !unicode.IsControl(got) && !unicode.Is(unicode.Cf, got) {
				return 0, false
			}
		}
	}
	return n, false
}

// character reads one character, which may be escaped. Its size is 0 if the text ends
// within an escape.
func character(text string) (r rune, size int) {
	r, size = utf8.DecodeRuneInString(text)
	if r != '\\' {
		return r, size
	}
	if len(text) == 1 {
		return 0, 0
	}
	digits := 0
	switch text[1] {
	case 'u':
		digits = 4
	case 'x':
		digits = 2
	case 'a', 'b', 'f', 'n', 'r', 't', 'v':
		return '\n', 2 // one of the controls
	default:
		r, size = utf8.DecodeRuneInString(text[1:])
		return r, 1 + size
	}
	if len(text) < 2+digits {
		return 0, 0
	}
	code, err := strconv.ParseUint(text[2:2+digits], 16, 32)
	if err != nil {
		return r, size
	}
	return rune(code), 2 + digits
}
