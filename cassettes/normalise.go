package cassettes

import (
	"fmt"
	"regexp"
	"strings"
)

// Normaliser replaces the ids in replies by numbers, in order of appearance, and times
// by zero. One Normaliser sees all replies of a cassette in order, so that it recognises
// ids that come back in requests.
type Normaliser struct {
	names  map[string]string // from ids sent to ids in the cassette
	counts map[string]int    // by prefix
}

var (
	// The minimum length excludes the key "call_id".
	id      = regexp.MustCompile(`\b(chatcmpl-|cmpl-|resp_|rs_|fc_|msg_|call_|toolu_|req_)[A-Za-z0-9]{16,}`)
	created = regexp.MustCompile(`("(?:created|created_at|completed_at)":\s*)-?\d+`)
	moment  = regexp.MustCompile(`("created_at":\s*)"[^"]*"`)
)

// Reply normalises the body of a reply.
func (n *Normaliser) Reply(body string) string {
	body = id.ReplaceAllStringFunc(body, func(found string) string {
		if name, ok := n.names[found]; ok {
			return name
		}
		if n.names == nil {
			n.names, n.counts = map[string]string{}, map[string]int{}
		}
		prefix := id.FindStringSubmatch(found)[1]
		n.counts[prefix]++
		n.names[found] = fmt.Sprintf("%s%d", prefix, n.counts[prefix])
		return n.names[found]
	})
	body = created.ReplaceAllString(body, "${1}0")
	return moment.ReplaceAllString(body, `${1}"1970-01-01T00:00:00Z"`)
}

// Request replaces the ids of earlier replies, but not those made by the client.
func (n *Normaliser) Request(body string) string {
	for sent, name := range n.names {
		body = strings.ReplaceAll(body, sent, name)
	}
	return body
}
