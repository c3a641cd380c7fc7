// Package exchange collects what the log, the trace and the reply headers report of one
// request and its reply. The outermost handler opens an [Exchange] and puts it into the
// context; the layers below add to it.
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
	ID     string // x-request-id
	Strict bool   // ignored fields are errors

	// Memory is the request's reservation in the shared budget, released when the exchange
	// ends. Nil: no limit.
	Memory *budget.Share

	// Document is the style's, compiled for the profile; set before the style writes
	// anything.
	Document *openapi.Document

	// Enter takes one of the request slots, once the body has arrived. Nil: no limit.
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

// From returns the exchange of ctx, or an unconnected one, so that callers need not ask.
func From(ctx context.Context) *Exchange {
	if x, ok := ctx.Value(key{}).(*Exchange); ok {
		return x
	}
	return &Exchange{}
}

// Facts is a snapshot of an exchange.
type Facts struct {
	Operation string          // operationId of the document, or empty
	Caller    string          // name of the key; empty if keys are not checked
	Model     string          // as requested
	Request   *engine.Request // nil if nothing is generated
	Prompt    string          // as rendered
	Dropped   int             // messages left out of a conversation that was too long
	Usage     engine.Usage
	Deltas    int      // of an unfinished answer: pieces so far, about one per token
	Ignored   []string // fields that had no effect, sorted
	Err       error
}

// Facts returns a snapshot.
func (x *Exchange) Facts() Facts {
	x.mu.Lock()
	defer x.mu.Unlock()
	operation := ""
	if x.operation != nil {
		operation = x.operation.ID
	}
	return Facts{operation, x.caller, x.model, x.request, x.prompt, x.dropped, x.usage, x.deltas, slices.Clone(x.ignored), x.err}
}

// SetLocate sets the translation of paths in the checked body to paths in the client's
// body.
func (x *Exchange) SetLocate(locate func(place string) string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.locate = locate
}

// Locate returns the client's path for a path in the checked body, from which ignored items
// were removed.
func (x *Exchange) Locate(place string) string {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.locate == nil {
		return place
	}
	return x.locate(place)
}

// Translate records paths in what a handler made of the checked body: translate returns the
// path there, which [Exchange.Locate] then finds in the client's body.
func (x *Exchange) Translate(translate func(place string) string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	locate := x.locate
	x.locate = func(place string) string {
		place = translate(place)
		if locate != nil {
			return locate(place)
		}
		return place
	}
}

// Rename records that the client used another name of a field.
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

// SetOperation records the operation of the request.
func (x *Exchange) SetOperation(operation *openapi.Operation) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.operation = operation
}

// SetCaller records the name of the key.
func (x *Exchange) SetCaller(caller string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.caller = caller
}

// Ignore adds ignored fields.
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

// Fail records why the reply is an error. The first reason wins.
func (x *Exchange) Fail(err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.err == nil {
		x.err = err
	}
}

// Error returns the document's error for err, by code and detail.
func (x *Exchange) Error(err *engine.Error) openapi.Error {
	code := string(err.Code)
	e, _ := x.Document.Error(code+"."+err.Detail, code, string(engine.CodeInternal))
	return e
}

// Answer records err and writes the style's error reply.
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
	header.Set("Content-Length", strconv.Itoa(len(body))) // a flush before the handler returns would make it chunked
	w.WriteHeader(status)
	w.Write(body)
}

// defaultRetryAfter is in seconds.
const defaultRetryAfter = 5

// retryAfter returns when to retry, or 0. Overload always has a time, even if an upstream
// did not send one.
func retryAfter(err *engine.Error) int {
	if err.Code == engine.CodeOverloaded {
		return cmp.Or(max(0, err.RetryAfter), defaultRetryAfter)
	}
	return err.RetryAfter
}

// Invalid returns an error about a parameter of the request.
func Invalid(param, format string, args ...any) *engine.Error {
	err := engine.Errorf(engine.CodeInvalidArgument, format, args...)
	err.Param = param
	return err
}

// Dotted formats a JSON pointer as the suffix of a parameter: .a.b
func Dotted(pointer string) string {
	var b strings.Builder
	for token := range jsontext.Pointer(pointer).Tokens() {
		b.WriteString("." + token)
	}
	return b.String()
}

// Reply writes a value as JSON. The methods of the generated types would escape HTML. On
// error nothing was written.
func (x *Exchange) Reply(w http.ResponseWriter, value any) error {
	body, err := plainjson.Marshal(value)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", jsonType)
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(append(x.Narrow(http.StatusOK, body), '\n')) // fails only if the client has disconnected
	return nil
}

const jsonType = "application/json"

// Narrow removes from a whole reply what the document withholds.
func (x *Exchange) Narrow(status int, body []byte) []byte {
	if reply := x.reply(status); reply != nil {
		return reply.Narrow(body)
	}
	return body
}

// Narrows reports whether Narrow can change anything.
func (x *Exchange) Narrows(status int) bool {
	reply := x.reply(status)
	return reply != nil && reply.Narrows()
}

func (x *Exchange) reply(status int) *openapi.Reply {
	operation := x.asked()
	if operation == nil && x.Document != nil {
		operation = x.Document.Operations()[0] // errors are the same everywhere
	}
	if operation == nil {
		return nil
	}
	reply, err := operation.Reply(status, jsonType)
	if err != nil {
		return nil
	}
	return reply
}

// Stream returns what narrows the reply's events, or nil.
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

// Watch records the request and its events, and passes the events on. For a strict client
// the first event is an error if anything would be ignored: a part of a tool schema that
// cannot be enforced, or a parameter that the upstream does not know. names maps parameters
// of [engine.Start] to the style's.
func (x *Exchange) Watch(req *engine.Request, events iter.Seq2[engine.Event, error], names map[string]string) iter.Seq2[engine.Event, error] {
	x.mu.Lock()
	x.model, x.request = req.Model, req
	x.mu.Unlock()
	return x.watch(events, names)
}

// WatchImages is Watch for a request for images.
func (x *Exchange) WatchImages(req *engine.ImageRequest, events iter.Seq2[engine.Event, error]) iter.Seq2[engine.Event, error] {
	x.SetModel(req.Model)
	return x.watch(events, nil)
}

func (x *Exchange) watch(events iter.Seq2[engine.Event, error], names map[string]string) iter.Seq2[engine.Event, error] {
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

// effectless returns the error of a strict request with ignored parts, or nil.
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

// SetModel records the model of a request that generates no events.
func (x *Exchange) SetModel(model string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.model = model
}

// SetUsage records the usage of a request without events.
func (x *Exchange) SetUsage(usage engine.Usage) {
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
