package record

import (
	"encoding/json"
	"regexp"
	"strings"
)

// mask hides in one cassette the texts of an agent's makers, and what it reports about
// the machine: words become x and numbers 0. The number and length of words stay, so
// that token counts do, and so do the words that the script matches.
type mask struct {
	keep map[string]bool // words to keep
	seen map[string]bool // sentences of requests, which replies may repeat
}

// sentence is the number of words from which a string counts as prose.
const sentence = 5

var (
	contains = regexp.MustCompile(`contains: ([^}\n]+)`)
	word     = regexp.MustCompile(`[A-Za-z0-9]+`)
	// A JSON string, and whether it is a key.
	literal = regexp.MustCompile(`"(?:[^"\\]|\\.)*"(\s*:)?`)
	// An escape or a word in a JSON string.
	written = regexp.MustCompile(`\\u[0-9A-Fa-f]{4}|\\.|[A-Za-z0-9]+`)
	letter  = regexp.MustCompile(`[A-Za-z]`)
	// Ids of clients, and Unix times in milliseconds.
	unique = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b(?:[0-9a-f]{32,64}|1[0-9]{12})\b`)
)

// newMask returns a mask that keeps the words that script matches.
func newMask(script []byte) mask {
	m := mask{keep: map[string]bool{}, seen: map[string]bool{}}
	for _, found := range contains.FindAllSubmatch(script, -1) {
		for _, w := range word.FindAllString(string(found[1]), -1) {
			m.keep[w] = true
		}
	}
	return m
}

// request masks the prose of a request, but not keys and short values, which schemas and
// unions depend on.
func (m mask) request(body string) string {
	return m.strings(body, func(text string) bool {
		if isProse(text) {
			m.seen[text] = true
		}
		return m.seen[text]
	})
}

// reply masks what a reply repeats of the requests before it. The rest comes from our
// script.
func (m mask) reply(body string) string {
	return m.strings(body, func(text string) bool { return m.seen[text] })
}

// strings masks the selected JSON strings, and all ids.
func (m mask) strings(body string, masked func(text string) bool) string {
	body = literal.ReplaceAllStringFunc(body, func(found string) string {
		var text string
		if strings.HasSuffix(found, ":") || json.Unmarshal([]byte(found), &text) != nil || !masked(text) {
			return found
		}
		return written.ReplaceAllStringFunc(found, m.word)
	})
	return unique.ReplaceAllStringFunc(body, func(found string) string {
		return word.ReplaceAllStringFunc(found, func(w string) string { return strings.Repeat("0", len(w)) })
	})
}

// word masks a word, but not an escape.
func (m mask) word(w string) string {
	if w[0] == '\\' || m.keep[w] {
		return w
	}
	with := "x" // also for digits next to letters: random names mix them
	if !letter.MatchString(w) {
		with = "0"
	}
	return strings.Repeat(with, len(w))
}

// isProse reports whether a text is prose. Arguments of tool calls, which are JSON in a
// string, are not: they must stay JSON.
func isProse(text string) bool {
	return len(strings.Fields(text)) >= sentence && !json.Valid([]byte(text))
}

// agent keeps the name and version in a User-Agent.
func agent(header string) string {
	name, _, _ := strings.Cut(header, " ")
	return name
}
