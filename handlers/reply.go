package handlers

import (
	"cmp"
	"net/http"
	"time"

	"github.com/diglot/diglot/handlers/internal/exchange"
	"github.com/diglot/diglot/handlers/internal/pace"
)

// reply notes the status and, before the headers go out, names the fields
// that had no effect.
type reply struct {
	*pace.Writer
	exchange *exchange.Exchange
	request  *pace.Body
	chunked  bool // the body came in chunks
	status   int
}

// newReply returns the reply to a request, whose body it paces as well: the
// client may let neither of them stand still for the stall time. Its connection is
// at work from when the body is whole.
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

// Paced gives a handler the clients that those of [New] have: what they let
// stand still ends, and their connections are kept while it works. Stall is as in
// [Config].
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

// WriteHeader sends the headers, once: an error that is found after them has
// no second status.
func (w *reply) WriteHeader(status int) {
	if w.status != 0 {
		return
	}
	w.status = status
	if ignored := w.exchange.Facts().Ignored; len(ignored) > 0 {
		w.Header().Set("Diglot-Ignored", headerList(ignored))
	}
	if !w.request.Whole() || w.chunked {
		// Otherwise net/http waits for the rest of the body. And one in chunks may
		// have had a length too, which a proxy may have believed: what it takes for
		// the rest of that body would be the next request (RFC 9112, 6.1).
		w.Header()["Connection"] = append([]string{"close"}, w.Header()["Connection"]...)
	}
	w.Writer.WriteHeader(status)
}

// rest says that the work for the request is done.
func (w *reply) rest(r *http.Request) {
	connection := connectionOf(r.Context())
	connection.expect("")
	if w.request.Whole() {
		connection.end()
	}
}

// finish bounds the time of what net/http does once the handler has returned.
// A refusal that was sent before the body had come is seen off: its connection
// ends with it.
func (w *reply) finish(r *http.Request) {
	w.Renew()
	if w.request.Whole() {
		return
	}
	_ = w.FlushError()
	limit := lingering
	if r.Header.Get("Expect") != "" {
		limit = 0 // it waits to be asked for the body
	}
	w.request.Linger(limit)
}

// lingering is how long a client may go on sending what is not wanted.
const lingering = time.Second

func (w *reply) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	return w.Writer.Write(b)
}
