package cassette

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// hider replaces secrets in texts, however their characters are escaped there: as in a
// URL (%2B), or as encoders of JSON do it (\u002B, \/), also in JSON within a string.
type hider struct {
	plain  *strings.Replacer
	starts map[[leastSecret]byte][]string // secrets by their first bytes, longer ones first
	first  [256]bool                      // their first bytes
}

func newHider(secrets []string) *hider {
	slices.SortFunc(secrets, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	h := &hider{starts: map[[leastSecret]byte][]string{}}
	var pairs []string
	for _, s := range slices.Compact(secrets) {
		pairs = append(pairs, s, Scrubbed)
		start := [leastSecret]byte([]byte(s))
		h.starts[start] = append(h.starts[start], s)
		h.first[s[0]] = true
	}
	h.plain = strings.NewReplacer(pairs...)
	return h
}

func (h *hider) text(text string) string {
	text = h.plain.Replace(text)
	if len(h.starts) == 0 || !strings.ContainsAny(text, `\%`) {
		return text
	}
	var out strings.Builder
	kept := 0
	for at := 0; at < len(text); {
		end := h.match(text, at)
		if end < 0 {
			at++
			continue
		}
		out.WriteString(text[kept:at])
		out.WriteString(Scrubbed)
		at, kept = end, end
	}
	out.WriteString(text[kept:])
	return out.String()
}

// match returns the end of the secret that begins here, or -1.
func (h *hider) match(text string, at int) int {
	if c := text[at]; !h.first[c] && c != '\\' && c != '%' {
		return -1
	}
	var start [leastSecret]byte
	for n, next := 0, at; n < leastSecret && next < len(text); {
		var c string
		c, next = unescape(text, next)
		if n == 0 && !h.first[c[0]] {
			return -1
		}
		n += copy(start[n:], c)
	}
	for _, s := range h.starts[start] {
		if end, ok := spelled(text[at:], s); ok {
			return at + end
		}
	}
	return -1
}

// spelled reports whether a text begins with a secret, and where that ends.
func spelled(text, secret string) (end int, ok bool) {
	for secret != "" && end < len(text) {
		var c string
		c, end = unescape(text, end)
		if secret, ok = strings.CutPrefix(secret, c); !ok {
			return 0, false
		}
	}
	return end, secret == ""
}

func unescaped(text string) string {
	var out strings.Builder
	for at := 0; at < len(text); {
		var c string
		c, at = unescape(text, at)
		out.WriteString(c)
	}
	return out.String()
}

// maxEscape limits how often a character was escaped again.
const maxEscape = 9

// unescape returns the character at a place of a text, and where the next one begins.
func unescape(text string, at int) (character string, next int) {
	plain := text[at : at+1]
	switch plain {
	case "%":
		digits := text[at+1 : min(at+maxEscape, len(text))]
		for strings.HasPrefix(digits, "25") && len(digits) >= 4 { // it was escaped again
			digits = digits[2:]
			at += 2
		}
		if c, ok := hex(digits, 2); ok {
			return string([]byte{byte(c)}), at + 3
		}
	case `\`:
		after := at
		for after < min(at+maxEscape, len(text)) && text[after] == '\\' {
			after++
		}
		rest := text[after:min(after+5, len(text))]
		if strings.HasPrefix(rest, "/") {
			return "/", after + 1
		}
		if digits, ok := strings.CutPrefix(rest, "u"); ok {
			if c, ok := hex(digits, 4); ok {
				return string(rune(c)), after + 5
			}
		}
	}
	return plain, at + 1
}

// hex is the number that a text begins with.
func hex(text string, digits int) (uint64, bool) {
	if len(text) < digits {
		return 0, false
	}
	c, err := strconv.ParseUint(text[:digits], 16, 32)
	return c, err == nil
}
