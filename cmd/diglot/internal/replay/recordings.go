package replay

import (
	"encoding/json/jsontext"
	"maps"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/diglot/diglot/internal/cassette"
	"github.com/diglot/diglot/openapi"
)

// Recordings are recorded exchanges by their requests. They are safe for concurrent use.
type Recordings struct {
	byKey map[string]*replies
}

// replies are the replies to one request, given in turn.
type replies struct {
	list []recording
	next atomic.Uint64
}

// recording is one recorded exchange.
type recording struct {
	name  string // of its cassette
	fixed bool   // of this server, which must fit the profile
	cassette.Interaction
}

// NewRecordings indexes cassettes: those of the user, whose requests nothing else answers,
// and those of this server.
func NewRecordings(own, embedded []cassette.Cassette) *Recordings {
	r := &Recordings{byKey: index(embedded, true)}
	maps.Copy(r.byKey, index(own, false))
	return r
}

// index is the replies of cassettes by their requests. A reply that another client got too
// counts once.
func index(cassettes []cassette.Cassette, fixed bool) map[string]*replies {
	byKey := map[string]*replies{}
	for _, c := range cassettes {
		for _, i := range c.Interactions {
			key := keyOf(i.Request.Method, i.Request.URL, i.Request.Headers, i.Request.Body)
			if byKey[key] == nil {
				byKey[key] = &replies{}
			}
			if list := byKey[key]; !list.has(i.Response) {
				list.list = append(list.list, recording{c.Name, fixed, i})
			}
		}
	}
	return byKey
}

func (l *replies) has(r cassette.Response) bool {
	for _, other := range l.list {
		if other.Response.Code == r.Code && other.Response.Body == r.Body {
			return true
		}
	}
	return false
}

// keyOf is equal for requests with equal replies. Both styles have the path of models; a
// header tells them apart.
func keyOf(method, address string, header http.Header, body string) string {
	style := ""
	if method == http.MethodGet && header.Get("Anthropic-Version") != "" {
		style = "anthropic "
	}
	return style + cassette.Key(cassette.Request{Method: method, URL: address, Body: restore(body)})
}

// find returns the recorded reply to a request, if there is one that fits the document.
func (r *Recordings) find(key string, document *openapi.Document) (recording, bool) {
	if r == nil {
		return recording{}, false
	}
	replies := r.byKey[key]
	if replies == nil {
		return recording{}, false
	}
	n := uint64(len(replies.list))
	found := replies.list[(replies.next.Add(1)-1)%n]
	if found.fixed && document.Profile != openapi.ProfileDefault && !found.fits(document) {
		return recording{}, false
	}
	return found, true
}

// fits reports whether the server would have given this reply with another document than
// that of the recording.
func (r recording) fits(document *openapi.Document) bool {
	path, _, _ := strings.Cut(r.Request.URL, "?")
	operation, ok := document.Match(r.Request.Method, path)
	if !ok {
		return r.Response.Code == http.StatusNotFound
	}
	if r.Response.Code >= http.StatusBadRequest {
		return false // the reason may be another one
	}
	if operation.Body != nil {
		if _, v := operation.Check([]byte(r.Request.Body)); v != nil {
			return false
		}
	}
	kind := r.Response.Headers.Get("Content-Type")
	if !strings.HasPrefix(kind, "text/event-stream") {
		return operation.CheckReply(r.Response.Code, kind, []byte(r.plain())) == nil
	}
	reply, err := operation.Reply(r.Response.Code, kind)
	return err == nil && !r.Response.Aborted && streams(reply.Stream, r.Response.Body)
}

// streams reports whether a recorded stream fits its contract.
func streams(contract *openapi.Stream, body string) bool {
	checker := contract.NewChecker()
	for text := range strings.SplitSeq(strings.TrimSuffix(body, "\n\n"), "\n\n") {
		event, data := "", ""
		for line := range strings.Lines(text) {
			line = strings.TrimSuffix(line, "\n")
			if value, ok := strings.CutPrefix(line, "event: "); ok {
				event = value
			} else if value, ok := strings.CutPrefix(line, "data: "); ok {
				data = value
			}
		}
		if data != "" && checker.Frame(event, data) != nil {
			return false
		}
	}
	return checker.End() == nil
}

// plain is the body as the server sent it: recordings have their JSON indented.
func (r recording) plain() string {
	text := jsontext.Value(r.Response.Body)
	if text.Compact(jsontext.PreserveRawStrings(true)) != nil {
		return r.Response.Body
	}
	return string(text) + "\n"
}
