package record

import (
	"encoding/json"
	"regexp"
	"strings"
)

// mask blots out what an agent's makers wrote, and what it says of the machine
// it ran on: letters become x and digits 0. The number, length and place of
// words stay, so the server counts the same tokens. So do the words that the
// script waits for, so it plays the same reply.
type mask struct {
	keep map[string]bool
}

// sentence is how many words a string has that is more than a name or a value.
const sentence = 5

var (
	contains = regexp.MustCompile(`contains: ([^}\n]+)`)
	word     = regexp.MustCompile(`[A-Za-z0-9]+`)
	// A JSON string, and whether it is a key.
	literal = regexp.MustCompile(`"(?:[^"\\]|\\.)*"(\s*:)?`)
	// What stands in a JSON string: an escape or a word.
	written = regexp.MustCompile(`\\u[0-9A-Fa-f]{4}|\\.|[A-Za-z0-9]+`)
	letter  = regexp.MustCompile(`[A-Za-z]`)
	digit   = regexp.MustCompile(`[0-9]`)
	// Ids that a client made up, and moments in milliseconds since 1970.
	unique = regexp.MustCompile(`\b(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32,64}|1[0-9]{12})\b`)
)

// newMask makes a mask that leaves the words on which script decides.
func newMask(script []byte) mask {
	m := mask{keep: map[string]bool{}}
	for _, found := range contains.FindAllSubmatch(script, -1) {
		for _, w := range word.FindAllString(string(found[1]), -1) {
			m.keep[w] = true
		}
	}
	return m
}

// body masks the strings of a JSON document that are sentences, and nothing of
// what a schema or a union is decided by: keys and short values.
func (m mask) body(text string) string {
	text = literal.ReplaceAllStringFunc(text, func(found string) string {
		if strings.HasSuffix(found, ":") || !isProse(found) {
			return found
		}
		return written.ReplaceAllStringFunc(found, func(w string) string {
			if w[0] == '\\' || m.keep[w] {
				return w
			}
			return digit.ReplaceAllString(letter.ReplaceAllString(w, "x"), "0")
		})
	})
	return unique.ReplaceAllStringFunc(text, func(found string) string {
		return word.ReplaceAllStringFunc(found, func(w string) string { return strings.Repeat("0", len(w)) })
	})
}

// isProse says whether a JSON string holds a sentence. Arguments of calls,
// which are JSON in a string, must stay JSON.
func isProse(literal string) bool {
	var text string
	return json.Unmarshal([]byte(literal), &text) == nil &&
		len(strings.Fields(text)) >= sentence && !json.Valid([]byte(text))
}

// agent leaves of a User-Agent the name and version of the program.
func agent(header string) string {
	name, _, _ := strings.Cut(header, " ")
	return name
}
