// Package upstream is an engine over any server with an OpenAI-style API: vLLM,
// SGLang, llama-server, a cloud or another diglot. It is the reverse of
// handlers/openai: a neutral request becomes a body of that style, and the
// chunks of the reply become events.
//
//	engine.go     configuration and operations
//	call.go       one request: key, retries, timeouts, redirects
//	request.go    engine to wire
//	message.go    the messages of a request
//	stream.go     wire to engine: chunks become events
//	answer.go     the blocks of one choice
//	refusal.go    the error bodies of servers
//	errors.go     what a status and an error body become
//	quirks.go     fields that a server does not support
//	wording.go    how servers say so
//	memory.go     memory reserved for a reply before it is decoded
//
// Servers differ in the fields that they accept and send. Nothing here asks
// which program a server is: an optional field is sent if the request needs it,
// and omitted once the server has refused it; a field that servers spell in
// several ways is read in all of them. A count that the server does not send is 0.
//
// Requests of one conversation carry the same hash in a header, so that a router
// can send them to the server that has the conversation in its prefix cache.
package upstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/diglot/diglot/engine"
	wire "github.com/diglot/diglot/gen/openai"
	"github.com/diglot/diglot/internal/budget"
	"github.com/diglot/diglot/internal/hostname"
)

// Config configures an [Engine].
type Config struct {
	BaseURL string       // as OpenAI clients take it: https://host/v1
	Model   string       // the server's name of the model
	Name    string       // the only model name accepted; empty: any, and Model is listed
	Log     *slog.Logger // required
	HTTP    *http.Client // for its transport; nil: one with [DefaultConnect]

	// Key returns the bearer key for the server; it may be empty. It is called
	// before each request, which fails with its error. nil: no key.
	Key func() (string, error)

	// AffinityHeader is the header for the hash of a conversation's prefix.
	// Empty: [DefaultAffinityHeader]. "-": none is sent.
	AffinityHeader string

	// Examples is how many user and assistant messages are prepended to every
	// conversation, and so do not identify it.
	Examples int

	// Via is the unique name of this process in the Via header. A request that
	// has it already is in a forwarding loop, and refused. Empty: loops are not
	// detected.
	Via string

	// Errors converts failures. nil: for a server that clients do not know of.
	Errors Errors

	// Lacks lists request fields that the server is known not to support, nested
	// ones by their last name: return_progress, continuous_usage_stats.
	Lacks []string

	// Memory limits the memory of all replies in progress, over all engines that
	// share it. A reply that exceeds it ends with [engine.CodeOverloaded]. nil:
	// no limit.
	Memory *budget.Budget

	Tries     int           // attempts per request; 0: [DefaultTries]
	FirstByte time.Duration // timeout for the first byte, and for keep-alives without content; 0: [DefaultFirstByte]
	Idle      time.Duration // read timeout within a reply; 0: [DefaultIdle]
}

// Defaults of a [Config].
const (
	DefaultTries     = 3
	DefaultConnect   = 10 * time.Second
	DefaultFirstByte = 10 * time.Minute // prefill of a long prompt comes before the first token
	DefaultIdle      = 2 * time.Minute

	// DefaultAffinityHeader is what most routers use by default or on request:
	// vLLM's router hashes it before any other, sgl-router and AIBrix bind
	// sessions by it, and Envoy, nginx and Caddy hash any header.
	DefaultAffinityHeader = "X-Session-ID"
)

// Engine is an [engine.Engine] over one model of another server.
type Engine struct {
	config Config
	base   *url.URL
	host   string // with the port, if one is given; for messages
	client *wire.Client
	quirks quirks
	wait   func(ctx context.Context, d time.Duration) error // between attempts

	maxStream                      int           // bytes; see the constant
	refusalTimeout, trailerTimeout time.Duration // see the constants
}

var _ engine.Finder = (*Engine)(nil)

// New returns an engine without connecting to the server.
func New(c Config) (*Engine, error) {
	base, err := url.Parse(strings.TrimRight(c.BaseURL, "/"))
	if err != nil {
		return nil, fmt.Errorf("the server address %q is not a URL", c.BaseURL)
	}
	switch {
	case base.Scheme != "http" && base.Scheme != "https" || !hostname.InURL(base):
		return nil, fmt.Errorf("the server address must begin with https:// or http:// and a host name, unlike %q", c.BaseURL)
	case base.User != nil || base.RawQuery != "" || base.Fragment != "":
		return nil, fmt.Errorf("the server address must not have a user, a query or a fragment")
	case c.Model == "":
		return nil, errors.New("a model on another server needs its name there: PARAMETER model NAME")
	}
	if base.Path == "" {
		base.Path = "/v1" // users often leave it out
	}
	c.Tries = cmp.Or(c.Tries, DefaultTries)
	c.FirstByte = cmp.Or(c.FirstByte, DefaultFirstByte)
	c.Idle = cmp.Or(c.Idle, DefaultIdle)
	c.AffinityHeader = cmp.Or(c.AffinityHeader, DefaultAffinityHeader)
	e := &Engine{config: c, base: base, host: base.Host, wait: wait, maxStream: maxStream, refusalTimeout: refusalTimeout, trailerTimeout: trailerTimeout}
	e.quirks.now = time.Now
	for _, field := range c.Lacks {
		e.quirks.exclude(field)
	}
	// The URL only satisfies the client: [Engine.rewriteURL] replaces it.
	e.client, err = wire.NewClient(base.String(), wire.WithHTTPClient(newDoer(c.HTTP)))
	return e, err
}

// Allowed returns the error that the key gives every request, without sending
// one.
func (e *Engine) Allowed() error {
	_, err := e.key()
	return err
}

// Models implements [engine.Engine]. It does not ask the server, whose other
// models are not offered here.
func (e *Engine) Models(context.Context) ([]engine.Model, error) {
	name := cmp.Or(e.config.Name, e.config.Model)
	return []engine.Model{{Name: name, Owner: engine.Owner(name)}}, nil
}

// FindModel implements [engine.Finder].
func (e *Engine) FindModel(ctx context.Context, name string) (engine.Model, error) {
	if err := e.check(name); err != nil {
		return engine.Model{}, err
	}
	models, err := e.Models(ctx)
	if err != nil {
		return engine.Model{}, err
	}
	return models[0], nil
}

func (e *Engine) check(name string) error {
	if e.config.Name != "" && !engine.SameModel(e.config.Name, name) {
		return engine.ModelNotFound(name)
	}
	return nil
}

// errLeft ends a reply whose reader has stopped the iteration.
var errLeft = errors.New("the reader has left")

// Generate implements [engine.Engine]. Counts that the server does not send are
// 0, as is PromptTokens of Start if it comes only at the end.
func (e *Engine) Generate(ctx context.Context, req *engine.Request) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) {
		err := e.generate(ctx, req, func(event engine.Event) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if !yield(event, nil) {
				return errLeft
			}
			return nil
		})
		if err != nil && !errors.Is(err, errLeft) {
			yield(nil, engine.AsError(err))
		}
	}
}

func (e *Engine) generate(ctx context.Context, req *engine.Request, emit func(engine.Event) error) error {
	if err := e.check(req.Model); err != nil {
		return err
	}
	op := e.chat(req)
	if req.Prompt != nil {
		op = e.completion(req)
	}
	reply, err := e.do(ctx, op)
	if err != nil {
		return err
	}
	defer reply.close()
	t := newConverter(req, reply.start(), emit)
	if reply.whole() {
		return t.whole(reply)
	}
	return t.stream(reply)
}
