package handlers

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/handlers/internal/exchange"
	"github.com/diglot/diglot/handlers/internal/pace"
)

// observer is the outermost handler: it names each request, logs it once,
// traces it, and turns a panic into an error of the right style.
type observer struct {
	next   http.Handler
	style  func(*http.Request) style
	log    *slog.Logger
	trace  *tracer
	clock  func() time.Time
	strict bool
	budget *Budget
	stall  time.Duration
}

func (o *observer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange.Exchange{ID: requestID(), Strict: o.strict || prefersStrict(r.Header), Memory: o.budget.bodies.Share()}
	r = r.WithContext(exchange.With(r.Context(), x))
	paced := pace.NewWriter(w, o.stall)
	connection := connectionOf(r.Context())
	body := pace.NewBody(w, r, o.stall, connection.begin)
	r.Body = body
	// Each SDK family reads the id under its own name.
	w.Header().Set("X-Request-Id", x.ID)
	w.Header().Set("Request-Id", x.ID)

	start := o.clock()
	reply := &reply{Writer: paced, exchange: x, request: body, chunked: len(r.TransferEncoding) > 0}
	defer func() {
		aborted := o.recover(reply, r, recover())
		o.tell(r, x, reply.status, o.clock().Sub(start))
		o.trace.write(start, x, reply.status)
		x.Memory.Release()
		if body.Whole() {
			connection.end()
		}
		if aborted {
			panic(http.ErrAbortHandler)
		}
		reply.finish(r)
	}()
	o.next.ServeHTTP(reply, r)
}

// recover answers a panic with an internal error where the status is still
// free. It reports whether the connection must be aborted instead: after the
// headers a normal end would look like a whole reply.
func (o *observer) recover(w *reply, r *http.Request, cause any) (abort bool) {
	if cause == nil {
		return false
	}
	if err, ok := cause.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		return true
	}
	o.log.Error("panic", "request_id", w.exchange.ID, "path", clip(r.URL.Path), "cause", cause, "stack", string(debug.Stack()))
	if w.status != 0 {
		return true
	}
	o.style(r).writeError(w, r, engine.Errorf(engine.CodeInternal, "Internal error."))
	return false
}

func (o *observer) tell(r *http.Request, x *exchange.Exchange, status int, took time.Duration) {
	f := x.Facts()
	attrs := []any{
		"request_id", x.ID, "method", clip(r.Method), "path", clip(r.URL.Path), "operation", f.Operation,
		"status", status, "took", took.Round(time.Microsecond),
	}
	if f.Caller != "" {
		attrs = append(attrs, "key", f.Caller)
	}
	if f.Model != "" {
		attrs = append(attrs, "model", clip(f.Model),
			"prompt_tokens", f.Usage.PromptTokens, "cached_tokens", f.Usage.CachedTokens,
			"completion_tokens", f.Usage.CompletionTokens)
	}
	if f.Deltas > 0 { // the client left, or the answer broke off: tokens are counted at the end
		attrs = append(attrs, "deltas", f.Deltas)
	}
	if f.Dropped > 0 {
		attrs = append(attrs, "dropped_messages", f.Dropped)
	}
	if len(f.Ignored) > 0 {
		attrs = append(attrs, "ignored", headerList(f.Ignored))
	}
	level := slog.LevelInfo
	if f.Err != nil {
		attrs = append(attrs, "error", clip(f.Err.Error()))
		if left := engine.AsError(f.Err).Code == engine.CodeCanceled; !left && (status >= 500 || status == http.StatusOK) {
			level = slog.LevelError
		}
	}
	o.log.Log(r.Context(), level, "request", attrs...)
}

// maxLogged is the most bytes of a value in the log: what a client made up, or
// what an error quotes of it, may have megabytes.
const maxLogged = 2000

func clip(value string) string {
	if len(value) <= maxLogged {
		return value
	}
	return strings.ToValidUTF8(value[:maxLogged], "") + "…"
}

// reply notes the status and, before the headers go out, names the fields
// that had no effect.
type reply struct {
	*pace.Writer
	exchange *exchange.Exchange
	request  *pace.Body
	chunked  bool // the body came in chunks
	status   int
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

// maxIgnored bounds the header: proxies refuse headers of more than 8 KB.
const maxIgnored = 4096

// headerList joins names that a client chose: what is not plain ASCII, or
// would end the header or an entry, becomes a question mark.
func headerList(names []string) string {
	var b strings.Builder
	for _, name := range names {
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		if b.Len()+len(name) > maxIgnored {
			b.WriteString("...")
			break
		}
		b.WriteString(strings.Map(headerRune, name))
	}
	return b.String()
}

func headerRune(r rune) rune {
	if r < 0x21 || r > 0x7e || r == ',' {
		return '?'
	}
	return r
}

// prefersStrict reads the Prefer header of RFC 7240.
func prefersStrict(h http.Header) bool {
	for _, line := range h.Values("Prefer") {
		for preference := range strings.SplitSeq(line, ",") {
			token, _, _ := strings.Cut(preference, ";")
			if strings.EqualFold(strings.ReplaceAll(strings.TrimSpace(token), `"`, ""), "handling=strict") {
				return true
			}
		}
	}
	return false
}

func requestID() string {
	var b [12]byte
	rand.Read(b[:]) // never fails, says its documentation
	return "req_" + hex.EncodeToString(b[:])
}
