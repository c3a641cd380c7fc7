package upstream

import (
	"slices"
	"strings"
	"sync"
)

// quirks is what the server turned out not to know. A server that answers 400
// to a member would do so each time; so each is tried once.
type quirks struct {
	mu      sync.Mutex
	unknown map[string]bool
}

func (q *quirks) takes(member string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return !q.unknown[member]
}

// forget says that the server does not have something.
func (q *quirks) forget(name string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.unknown == nil {
		q.unknown = map[string]bool{}
	}
	q.unknown[name] = true
}

// learn reads a refusal for the members of a request that not every server
// knows. It reports whether another try is worth it, which will do without
// those that the refusal names, whichever of the requests under way was the
// first to learn of them.
func (q *quirks) learn(refusal refusal, sent []string) bool {
	if refusal.status != 400 && refusal.status != 422 || !refusal.aboutMembers() {
		return false
	}
	if refusal.names(usageStats) { // which stands in another that the refusal may name as well
		sent = slices.DeleteFunc(slices.Clone(sent), func(member string) bool { return member == streamOptions })
	}
	learned := false
	for _, member := range sent {
		// reasoning_effort=none is a value that a server may not know, while it knows the member.
		name, _, _ := strings.Cut(member, "=")
		if refusal.names(name) {
			q.forget(member)
			learned = true
		}
	}
	return learned
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
