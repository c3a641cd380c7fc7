package handlers

import (
	"cmp"
	"net/http"
	"time"

	"github.com/diglot/diglot/handlers/internal/exchange"
	"github.com/diglot/diglot/handlers/internal/pace"
)

// reply records the status, and adds the names of ignored fields before the headers are
// sent.
type reply struct {
	*pace.Writer
	exchange *exchange.Exchange
	request  *pace.Body
	chunked  bool // the body was chunked
	status   int
}

// newReply returns the reply to a request, and paces both its body and the reply. The
// connection counts as working once the body is complete.
func newReply(w http.ResponseWriter, r *http.Request, stall time.Duration) *reply {
	connection := connectionOf(r.Context())
	connection.expect(r.Method)
	x := exchange.From(r.Context())
	body := pace.NewBody(w, r, stall, connection.begin, x.Memory.Crowds)
	r.Body = body
	return &reply{
		Writer:   pace.NewWriter(w, stall, x.Memory.Crowds),
		exchange: x,
		request:  body,
		chunked:  len(r.TransferEncoding) > 0,
	}
}

// Paced applies the client limits of [New] to another handler: stalled clients are cut off,
// and connections are kept while it works. Stall is as in [Config].
func Paced(next http.Handler, stall time.Duration) http.Handler {
	stall = cmp.Or(stall, DefaultStall)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r = r.WithContext(r.Context())
		reply := newReply(w, r, stall)
		defer reply.rest(r)
		next.ServeHTTP(reply, r)
		reply.finish(r)
	})
}

// WriteHeader sends the headers once: a later error has no status.
func (w *reply) WriteHeader(status int) {
	if w.status != 0 {
		return
	}
	w.status = status
	if ignored := w.exchange.Facts().Ignored; len(ignored) > 0 {
		w.Header().Set("Diglot-Ignored", headerList(ignored))
	}
	if !w.request.Whole() || w.chunked {
		// Otherwise net/http waits for the rest of the body. A chunked request may also
		// have had a length that a proxy believed: the rest of that body would be the next
		// request (RFC 9112, 6.1).
		w.Header()["Connection"] = append([]string{"close"}, w.Header()["Connection"]...)
	}
	w.Writer.WriteHeader(status)
}

// rest marks the request as done.
func (w *reply) rest(r *http.Request) {
	connection := connectionOf(r.Context())
	connection.expect("")
	if w.request.Whole() {
		connection.end()
	}
}

// finish limits what net/http does after the handler returns. A refusal that was sent
// before the body arrived closes the connection.
func (w *reply) finish(r *http.Request) {
	w.Renew()
	if w.request.Whole() {
		return
	}
	_ = w.FlushError()
	limit := lingering
	if r.Header.Get("Expect") != "" {
		limit = 0 // the client waits for 100 Continue
	}
	w.request.Linger(limit)
}

// lingering is how long an unwanted body is discarded.
const lingering = time.Second

func (w *reply) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	return w.Writer.Write(b)
}
