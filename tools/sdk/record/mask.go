package record

import (
	"encoding/json"
	"regexp"
	"strings"
)

// mask blots out, in one cassette, what an agent's makers wrote, and what it
// says of the machine it ran on: words become x and numbers 0. The number,
// length and place of words stay, so the server counts the same tokens. So do
// the words that the script waits for, so it plays the same reply.
type mask struct {
	keep map[string]bool // words that stay
	seen map[string]bool // sentences of requests, which replies may say again
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
	// Ids that a client made up, and moments in milliseconds since 1970.
	unique = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b(?:[0-9a-f]{32,64}|1[0-9]{12})\b`)
)

// newMask makes a mask that leaves the words on which script decides.
func newMask(script []byte) mask {
	m := mask{keep: map[string]bool{}, seen: map[string]bool{}}
	for _, found := range contains.FindAllSubmatch(script, -1) {
		for _, w := range word.FindAllString(string(found[1]), -1) {
			m.keep[w] = true
		}
	}
	return m
}

// request masks the strings of a request that are sentences, and nothing of
// what a schema or a union is decided by: keys and short values.
func (m mask) request(body string) string {
	return m.strings(body, func(text string) bool {
		if isProse(text) {
			m.seen[text] = true
		}
		return m.seen[text]
	})
}

// reply masks in a reply what it says again of the requests before it. The
// rest is the model's, whose words are ours.
func (m mask) reply(body string) string {
	return m.strings(body, func(text string) bool { return m.seen[text] })
}

// strings masks the JSON strings that are to be masked, and all ids.
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

// word masks a word, and leaves an escape.
func (m mask) word(w string) string {
	if w[0] == '\\' || m.keep[w] {
		return w
	}
	with := "x" // also for digits beside letters: names made up by chance mix them
	if !letter.MatchString(w) {
		with = "0"
	}
	return strings.Repeat(with, len(w))
}

// isProse reports whether a text is a sentence. Arguments of calls, which are
// JSON in a string, must stay JSON.
func isProse(text string) bool {
	return len(strings.Fields(text)) >= sentence && !json.Valid([]byte(text))
}

// agent leaves of a User-Agent the name and version of the program.
func agent(header string) string {
	name, _, _ := strings.Cut(header, " ")
	return name
}
