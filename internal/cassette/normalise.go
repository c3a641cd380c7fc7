package cassette

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Normaliser replaces the ids in replies by numbers, in order of appearance, and times
// by zero. One Normaliser sees all replies of a cassette in order, so that it recognises
// ids that come back in requests. What is normalised stays as it is.
// It is safe for concurrent use.
type Normaliser struct {
	mu       sync.Mutex
	names    map[string]string // from ids sent to ids in the cassette
	counts   map[string]int    // by prefix
	replacer *strings.Replacer // of names; nil: there are new ones
}

// maxNames limits the ids of a Normaliser. Those above it stay as they are.
const maxNames = 10_000

const prefixes = `(chatcmpl-|cmpl-|resp_|rs_|fc_|msg_|call_|toolu_|req_)`

var (
	// A field whose value is an id, or an id wherever it stands. The minimum length
	// of the latter excludes the key "call_id".
	id = regexp.MustCompile(`("(?:id|call_id|item_id|response_id|request_id|tool_call_id|tool_use_id)":\s*")([^"\\]+)"` +
		`|\b` + prefixes + `[A-Za-z0-9]{16,}`)
	// The value of such a field, for there are servers that have short ids, and random
	// ones without a prefix. The name of a model is neither.
	short  = regexp.MustCompile(`^` + prefixes + `[A-Za-z0-9_-]+$`)
	random = regexp.MustCompile(`^(?:[A-Za-z0-9]{24,}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$`)

	// Unix times, and those of a calendar.
	created = regexp.MustCompile(`("(?:created|\w+_at)":\s*)-?\d+(?:\.\d+)?`)
	moment  = regexp.MustCompile(`("\w+_at":\s*)"[^"]*"`)
	// How long something took.
	took = regexp.MustCompile(`("(?:\w+_ms|\w+_per_second|\w+_duration)":\s*)-?\d[\d.eE+-]*`)
)

// Reply normalises the body of a reply.
func (n *Normaliser) Reply(body string) string {
	body = id.ReplaceAllStringFunc(body, func(found string) string {
		parts := id.FindStringSubmatch(found)
		if parts[1] == "" {
			return n.name(found, parts[3])
		}
		return parts[1] + n.field(parts[2]) + `"`
	})
	body = created.ReplaceAllString(body, "${1}0")
	body = took.ReplaceAllString(body, "${1}0")
	return moment.ReplaceAllString(body, `${1}"1970-01-01T00:00:00Z"`)
}

// field is the value of a field of ids.
func (n *Normaliser) field(value string) string {
	if parts := short.FindStringSubmatch(value); parts != nil {
		return n.name(value, parts[1])
	}
	if random.MatchString(value) && strings.ContainsAny(value, "0123456789") {
		return n.name(value, "id_")
	}
	return value
}

// name is what an id is called in the cassette.
func (n *Normaliser) name(found, prefix string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if name, ok := n.names[found]; ok {
		return name
	}
	if len(n.names) >= maxNames {
		return found
	}
	if n.names == nil {
		n.names, n.counts = map[string]string{}, map[string]int{}
	}
	n.replacer = nil
	n.counts[prefix]++
	n.names[found] = fmt.Sprintf("%s%d", prefix, n.counts[prefix])
	return n.names[found]
}

// Request replaces the ids of earlier replies, but not those made by the client.
func (n *Normaliser) Request(body string) string {
	if body == "" {
		return ""
	}
	return n.replace().Replace(body)
}

// replace returns what replaces the ids that are known.
func (n *Normaliser) replace() *strings.Replacer {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.replacer != nil {
		return n.replacer
	}
	longest := slices.SortedFunc(maps.Keys(n.names), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) // none is a part of one before it
	})
	var pairs []string
	for _, sent := range longest {
		pairs = append(pairs, sent, n.names[sent])
	}
	n.replacer = strings.NewReplacer(pairs...)
	return n.replacer
}

// Headers replaces the ids of requests in the headers of a reply.
func (n *Normaliser) Headers(headers http.Header) {
	for _, key := range []string{"Request-Id", "X-Request-Id"} {
		for i, value := range headers[key] {
			headers[key][i] = n.name(value, "req_")
		}
	}
}
