package upstream

import (
	"slices"
	"strings"
	"sync"
	"time"
)

// quirks remembers for all requests which fields the server does not support. A
// field that got a 400 is not sent again for a while: servers get updated.
type quirks struct {
	mu          sync.Mutex
	unsupported map[string]time.Time // until when; zero: forever
	now         func() time.Time
}

// quirkLifetime is how long a field counts as unsupported.
const quirkLifetime = time.Hour

func (q *quirks) supports(field string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	until, lacking := q.unsupported[field]
	return !lacking || !until.IsZero() && q.now().After(until)
}

// exclude records that the server never supports name.
func (q *quirks) exclude(name string) { q.set(name, time.Time{}) }

// markUnsupported records that the server does not support name for now.
func (q *quirks) markUnsupported(name string) { q.set(name, q.now().Add(quirkLifetime)) }

func (q *quirks) set(name string, until time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.unsupported == nil {
		q.unsupported = map[string]time.Time{}
	}
	q.unsupported[name] = until
}

// fallback is what one request has learned from its refusals. Its retries omit
// every field that a refusal names. Other requests omit a field only after a
// refusal that says so in words that cannot be the client's, and after success
// without the field: many refusals quote what the client sent, and the fault may
// have been in its value.
type fallback struct {
	quirks  *quirks
	omitted map[string]bool // omitted fields
	unknown []string        // those of them that the server denied to know
}

func newFallback(q *quirks) *fallback { return &fallback{quirks: q, omitted: map[string]bool{}} }

// supports reports whether to send a field, which may come with a value, such as
// reasoning_effort=none.
func (l *fallback) supports(field string) bool {
	name, _, _ := strings.Cut(field, "=")
	return !l.omitted[field] && l.quirks.supports(field) && l.quirks.supports(name)
}

// read looks for the optional fields sent in a refusal, and reports whether a
// retry without them is worth it.
func (l *fallback) read(refusal refusal, sent []string) bool {
	if refusal.status != 400 && refusal.status != 422 || !refusal.aboutFields() {
		return false
	}
	if refusal.names(usageStats) { // a refusal may also name the field that it is in
		sent = slices.DeleteFunc(slices.Clone(sent), func(field string) bool { return field == streamOptions })
	}
	learned := false
	for _, field := range sent {
		name, _, _ := strings.Cut(field, "=")
		if l.omitted[field] || !refusal.names(name) {
			continue
		}
		l.omitted[field], learned = true, true
		if refusal.rejects(field) {
			l.unknown = append(l.unknown, field)
		}
	}
	return learned
}

// confirm records that the server accepted the request.
func (l *fallback) confirm() {
	for _, field := range l.unknown {
		l.quirks.markUnsupported(field)
	}
}

// refusalWords are how servers refuse a field: OpenAI and diglot, pydantic (vLLM,
// SGLang, Mistral), serde, protocol buffers (Gemini), JSON Schema validators.
var refusalWords = []string{
	"unknown", "unrecognized", "unsupported", "unexpected", "not supported", "does not support", "not permitted",
	"not allowed", "extra_forbidden", "additional propert", "not a valid", "literal_error", "cannot find field",
}

// aboutFields reports whether the refusal may be about an unsupported field,
// rather than an invalid value.
func (r refusal) aboutFields() bool {
	text := strings.ToLower(r.text)
	return slices.ContainsFunc(refusalWords, func(words string) bool { return strings.Contains(text, words) })
}

// names reports whether the refusal contains name as a word.
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
