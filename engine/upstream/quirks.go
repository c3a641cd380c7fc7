package upstream

import (
	"slices"
	"strings"
	"sync"
	"time"
)

// quirks is what the server turned out not to know, for all requests. A server
// that answers 400 to a member would do so each time; so each is tried once, and
// again after a while: servers are renewed.
type quirks struct {
	mu      sync.Mutex
	lacking map[string]time.Time // until when; zero: for good
	now     func() time.Time
}

// remembered is how long it counts what a server does not know.
const remembered = time.Hour

func (q *quirks) takes(member string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	until, lacking := q.lacking[member]
	return !lacking || !until.IsZero() && q.now().After(until)
}

// forget says that the server does not have something.
func (q *quirks) forget(name string) { q.lack(name, time.Time{}) }

// learn says that it does not seem to have it.
func (q *quirks) learn(name string) { q.lack(name, q.now().Add(remembered)) }

func (q *quirks) lack(name string, until time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.lacking == nil {
		q.lacking = map[string]time.Time{}
	}
	q.lacking[name] = until
}

// lesson is what one request has learned of its refusals. Another try does
// without the members that a refusal names, whoever wrote the words in it. All
// other requests do without a member only when the server has said by itself
// that it does not know it, in words that nobody else can have written, and
// has taken the request without it: what a client sends is quoted in many
// refusals, and what was wrong may have been its value.
type lesson struct {
	quirks *quirks
	left   map[string]bool // members that are left out
	sure   []string        // those of them that the server does not know
}

func newLesson(q *quirks) *lesson { return &lesson{quirks: q, left: map[string]bool{}} }

// takes reports whether a member is worth sending. One with a value, such as
// reasoning_effort=none, is known where the value is.
func (l *lesson) takes(member string) bool {
	name, _, _ := strings.Cut(member, "=")
	return !l.left[member] && l.quirks.takes(member) && l.quirks.takes(name)
}

// read reads a refusal for the members of a request that not every server
// knows, and reports whether another try is worth it.
func (l *lesson) read(refusal refusal, sent []string) bool {
	if refusal.status != 400 && refusal.status != 422 || !refusal.aboutMembers() {
		return false
	}
	if refusal.names(usageStats) { // which stands in another that the refusal may name as well
		sent = slices.DeleteFunc(slices.Clone(sent), func(member string) bool { return member == streamOptions })
	}
	learned := false
	for _, member := range sent {
		name, _, _ := strings.Cut(member, "=")
		if l.left[member] || !refusal.names(name) {
			continue
		}
		l.left[member], learned = true, true
		if refusal.denies(member) {
			l.sure = append(l.sure, member)
		}
	}
	return learned
}

// proven says that the server has taken the request.
func (l *lesson) proven() {
	for _, member := range l.sure {
		l.quirks.learn(member)
	}
}

// refusalWords are how servers say that they do not know a member or do not
// want it: OpenAI and diglot, pydantic (vLLM, SGLang, Mistral), serde,
// protocol buffers (Gemini), JSON Schema validators.
var refusalWords = []string{
	"unknown", "unrecognized", "unsupported", "unexpected", "not supported", "does not support", "not permitted",
	"not allowed", "extra_forbidden", "additional propert", "not a valid", "literal_error", "cannot find field",
}

// aboutMembers reports whether the refusal is of a kind that a request without
// some member would not get, rather than about the value of one that counts.
func (r refusal) aboutMembers() bool {
	text := strings.ToLower(r.text)
	return slices.ContainsFunc(refusalWords, func(words string) bool { return strings.Contains(text, words) })
}

// names reports whether the refusal holds name as a word of its own.
func (r refusal) names(name string) bool {
	for rest := r.text; ; {
		i := strings.Index(rest, name)
		if i < 0 {
			return false
		}
		end := i + len(name)
		if (i == 0 || !wordByte(rest[i-1])) && (end == len(rest) || !wordByte(rest[end])) {
			return true
		}
		rest = rest[end:]
	}
}

func wordByte(b byte) bool {
	return b == '_' || '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}
