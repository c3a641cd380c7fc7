// Package exchange is one request and its reply as the log, the trace and
// the reply headers see them. The outermost handler opens an [Exchange] and
// puts it into the context; what lies below adds what it learns.
package exchange

import (
	"cmp"
	"context"
	"encoding/json/jsontext"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/internal/budget"
	"github.com/diglot/diglot/internal/plainjson"
	"github.com/diglot/diglot/openapi"
)

// Exchange collects facts about one request. It is safe for concurrent use.
type Exchange struct {
	ID     string // what the client sees as x-request-id
	Strict bool   // the client wants a 400 for every ignored field

	// Memory is what the request has reserved of the bytes that all may hold;
	// it ends with the exchange. Nil: no limit.
	Memory *budget.Share

	// Document is that of the style, as it is in force; set before the style
	// writes anything.
	Document *openapi.Document

	// Enter takes a place among the requests that are worked on, once the body is
	// there. Nil: there are enough.
	Enter func() *engine.Error

	mu        sync.Mutex
	caller    string
	operation *openapi.Operation
	model     string
	request   *engine.Request
	prompt    string
	dropped   int
	usage     engine.Usage
	deltas    int
	ignored   []string
	locate    func(string) string // see Locate
	err       error
}

type key struct{}

// With returns a context that carries x.
func With(ctx context.Context, x *Exchange) context.Context {
	return context.WithValue(ctx, key{}, x)
}

// From returns the exchange of ctx; where there is none, an unconnected one,
// so that callers need not ask.
func From(ctx context.Context) *Exchange {
	if x, ok := ctx.Value(key{}).(*Exchange); ok {
		return x
	}
	return &Exchange{}
}

// Facts is what is known of an exchange at one moment.
type Facts struct {
	Operation string          // operationId of the document, or empty
	Caller    string          // the name of the key; empty where none is asked for
	Model     string          // that was asked for
	Request   *engine.Request // nil where nothing is generated
	Prompt    string          // as rendered
	Dropped   int             // messages left out of a conversation that was too long
	Usage     engine.Usage
	Deltas    int      // of an answer that did not come to its end: its pieces so far, about one for each token
	Ignored   []string // fields that had no effect, sorted
	Err       error
}

// Facts returns what is known so far.
func (x *Exchange) Facts() Facts {
	x.mu.Lock()
	defer x.mu.Unlock()
	operation := ""
	if x.operation != nil {
		operation = x.operation.ID
	}
	return Facts{operation, x.caller, x.model, x.request, x.prompt, x.dropped, x.usage, x.deltas, slices.Clone(x.ignored), x.err}
}

// Shift says how places in the body that goes on become places in the one
// that the client sent.
func (x *Exchange) Shift(locate func(place string) string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.locate = locate
}

// Locate turns a place in what was bound into the place that the client
// knows: what it sent to no effect was left out before.
func (x *Exchange) Locate(place string) string {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.locate == nil {
		return place
	}
	return x.locate(place)
}

// Rename says that the client has given a member by another of its names.
func (x *Exchange) Rename(from, to string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	locate := x.locate
	x.locate = func(place string) string {
		if locate != nil {
			place = locate(place)
		}
		if rest, ok := strings.CutPrefix(place, from); ok {
			return to + rest
		}
		return place
	}
}

// Operate says which operation of the document the request is for.
func (x *Exchange) Operate(operation *openapi.Operation) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.operation = operation
}

// Call says whose key the request came with.
func (x *Exchange) Call(caller string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.caller = caller
}

// Ignore adds fields that had no effect.
func (x *Exchange) Ignore(fields ...string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.ignore(fields)
}

// ignore adds fields. The mutex is held.
func (x *Exchange) ignore(fields []string) {
	x.ignored = append(x.ignored, fields...)
	slices.Sort(x.ignored)
	x.ignored = slices.Compact(x.ignored)
}

// Fail records why the reply is an error. The first reason stays.
func (x *Exchange) Fail(err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.err == nil {
		x.err = err
	}
}

// Error is what the document has for err, by its code and detail.
func (x *Exchange) Error(err *engine.Error) openapi.Error {
	code := string(err.Code)
	e, _ := x.Document.Error(code+"."+err.Detail, code, string(engine.CodeInternal))
	return e
}

// Answer records err and answers with it, in the words of a style.
func (x *Exchange) Answer(w http.ResponseWriter, err *engine.Error, status int, body []byte) {
	x.Fail(err)
	header := w.Header()
	header.Set("Content-Type", jsonType)
	if after := retryAfter(err); after > 0 {
		header.Set("Retry-After", strconv.Itoa(after))
	}
	if err.NoRetry {
		header.Set("X-Should-Retry", "false")
	}
	body = append(x.Narrow(status, body), '\n')
	header.Set("Content-Length", strconv.Itoa(len(body))) // the reply may be flushed before the handler returns
	w.WriteHeader(status)
	w.Write(body)
}

// soon is when to try again, in seconds, where nobody knows better.
const soon = 5

// retryAfter is when a client may try again; 0: that says nothing. What is
// overloaded says it in any case: a server behind this one may not have told.
func retryAfter(err *engine.Error) int {
	if err.Code == engine.CodeOverloaded {
		return cmp.Or(max(0, err.RetryAfter), soon)
	}
	return err.RetryAfter
}

// Invalid is an error about a parameter of the request.
func Invalid(param, format string, args ...any) *engine.Error {
	err := engine.Errorf(engine.CodeInvalidArgument, format, args...)
	err.Param = param
	return err
}

// Dotted is a JSON pointer as error messages have it behind a parameter: .a.b
func Dotted(pointer string) string {
	var b strings.Builder
	for token := range jsontext.Pointer(pointer).Tokens() {
		b.WriteString("." + token)
	}
	return b.String()
}

// Reply answers with a value as JSON. The generated types that would do it
// escape what matters in HTML. An error means that nothing was written.
func (x *Exchange) Reply(w http.ResponseWriter, value any) error {
	body, err := plainjson.Marshal(value)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", jsonType)
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(append(x.Narrow(http.StatusOK, body), '\n')) // fails only when the client has left
	return nil
}

const jsonType = "application/json"

// Narrow removes from a whole reply what the document withholds.
func (x *Exchange) Narrow(status int, body []byte) []byte {
	operation := x.asked()
	if operation == nil && x.Document != nil {
		operation = x.Document.Operations()[0] // errors look the same everywhere
	}
	if operation == nil {
		return body
	}
	if reply, err := operation.Reply(status, jsonType); err == nil {
		return reply.Narrow(body)
	}
	return body
}

// Stream narrows the events of the reply; nil if there is nothing to withhold.
func (x *Exchange) Stream() *openapi.Stream {
	operation := x.asked()
	if operation == nil {
		return nil
	}
	if reply, err := operation.Reply(http.StatusOK, "text/event-stream"); err == nil && reply.Stream.Narrows() {
		return reply.Stream
	}
	return nil
}

func (x *Exchange) asked() *openapi.Operation {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.operation
}

// Watch records what req and the events of its reply tell, and passes the
// events on. For a strict client the reply ends before it begins where
// something would have no effect: a part of a tool's schema that cannot be
// enforced, or a parameter that the model's server does not know. names says
// what the style calls parameters that have another name in [engine.Start].
func (x *Exchange) Watch(req *engine.Request, events iter.Seq2[engine.Event, error], names map[string]string) iter.Seq2[engine.Event, error] {
	x.mu.Lock()
	x.model, x.request = req.Model, req
	x.mu.Unlock()
	return func(yield func(engine.Event, error) bool) {
		for event, err := range events {
			if start, ok := event.(engine.Start); ok {
				start.Ignored = renamed(start.Ignored, names)
				if without := effectless(start); without != nil && x.Strict {
					yield(nil, without)
					return
				}
				event = start
			}
			x.note(event)
			if !yield(event, err) {
				return
			}
		}
	}
}

func renamed(parameters []string, names map[string]string) []string {
	var out []string
	for _, p := range parameters {
		out = append(out, cmp.Or(names[p], p))
	}
	return out
}

// effectless is the error of a strict client's request, or nil.
func effectless(start engine.Start) *engine.Error {
	switch {
	case len(start.Unenforced) > 0:
		return engine.Errorf(engine.CodeUnsupported, "It cannot be enforced, so it has no effect.").At(start.Unenforced[0])
	case len(start.Ignored) > 0:
		err := engine.Errorf(engine.CodeUnsupported, "It has no effect where the model is served.")
		err.Param = start.Ignored[0]
		return err
	}
	return nil
}

// Asks records the model of a request that generates no events.
func (x *Exchange) Asks(model string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.model = model
}

// Used records what a request without events has used.
func (x *Exchange) Used(usage engine.Usage) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.usage = usage
}

func (x *Exchange) note(event engine.Event) {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch e := event.(type) {
	case engine.Start:
		x.prompt, x.dropped = e.Prompt, e.Dropped
		x.usage.PromptTokens = e.PromptTokens
		x.ignore(e.Ignored)
	case engine.TextDelta, engine.ReasoningDelta, engine.ToolCallDelta:
		x.deltas++
	case engine.Done:
		x.usage, x.deltas = e.Usage, 0
	}
}
