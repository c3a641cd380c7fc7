package handlers

import (
	"cmp"
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
)

// observer is the outermost handler: it assigns the request id, logs and traces the
// request, and turns a panic into an error of the style.
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
	reply := newReply(w, r, o.stall)
	// Each SDK family reads its own header.
	w.Header().Set("X-Request-Id", x.ID)
	w.Header().Set("Request-Id", x.ID)

	start := o.clock()
	defer func() {
		aborted := o.recover(reply, r, recover())
		o.tell(r, x, reply.status, o.clock().Sub(start))
		o.trace.write(start, x, reply.status)
		x.Memory.Release()
		reply.rest(r)
		if aborted {
			panic(http.ErrAbortHandler)
		}
		reply.finish(r)
	}()
	o.next.ServeHTTP(reply, r)
}

// recover answers a panic with an internal error if the status is not sent yet. Otherwise
// it reports that the connection must be aborted: a normal end would look like a complete
// reply.
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
	if f.Deltas > 0 { // the answer is incomplete: its tokens were not counted
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

// maxLogged limits a value in the log, since clients can send megabytes.
const maxLogged = 2000

func clip(value string) string {
	if len(value) <= maxLogged {
		return value
	}
	return strings.ToValidUTF8(value[:maxLogged], "") + "…"
}

// maxIgnored limits the header: proxies reject more than 8 KB.
const maxIgnored = 4096

// headerList joins client-chosen names. Characters that are not plain ASCII, or would end
// the header or an entry, become question marks.
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
		b.WriteString(cmp.Or(strings.Map(headerRune, name), "?")) // a field may have an empty name
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
	rand.Read(b[:]) // documented never to fail
	return "req_" + hex.EncodeToString(b[:])
}
