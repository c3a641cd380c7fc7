// Package upstream is an engine whose models are served elsewhere: by vLLM,
// SGLang, llama-server, a cloud, or another diglot; by whatever speaks the
// OpenAI chat style. It is the reverse of handlers/openai: a neutral request
// becomes a body of that style, and the chunks of the reply become events.
// Clients of either style meet it as any other engine, so no request passes
// through the style that its client does not speak, except on the wire to a
// server that speaks no other.
//
//	engine.go     what there is to configure, and the operations
//	call.go       one request: key, retries, silence, redirects
//	request.go    engine to wire
//	message.go    the messages of a request
//	stream.go     wire to engine: chunks become events
//	errors.go     what a status and a body become
//	report.go     the same, where the server speaks to its own user
//	quirks.go     what a server turned out not to know
//	denial.go     in what words it says so
//	weigh.go      what a reply takes in memory, before it is decoded
//
// Servers of one style differ in the members that they know and in what they
// tell. Nothing here asks which program a server is. A member that not every
// server knows is sent where the request needs it, and taken back when the
// server says that it does not know it. What is told in one of several ways
// is read in all of them. What a server does not tell stays unknown: a count
// that never came is 0.
//
// Requests of one conversation carry the same hash in a header, so that a
// router in front of many servers can send them where the beginning of the
// conversation is still in the cache.
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

// Config says which server to ask, and how.
type Config struct {
	BaseURL string       // as OpenAI clients take it: https://host/v1
	Model   string       // name that the server knows the model by
	Name    string       // the only name that requests may have; empty: any, and Model is what is listed
	Log     *slog.Logger // required
	HTTP    *http.Client // for its transport; nil: one with [DefaultConnect]

	// Key returns the bearer key for the server, or an empty one. It is asked
	// before each request; an error of its own fails the request. nil: no key.
	Key func() (string, error)

	// AffinityHeader is the header that carries the hash of a conversation's
	// beginning. Empty: [DefaultAffinityHeader]. "-": none is sent.
	AffinityHeader string

	// Examples is how many turns of users and assistants stand before each
	// conversation, and say nothing of which it is.
	Examples int

	// Via is the name of this program in the header Via, which nobody else has.
	// A request that bears it already has gone in a circle, and is refused.
	// Empty: circles are not noticed.
	Via string

	// Errors words what fails. nil: as of a server that clients know nothing of.
	Errors Errors

	// Lacks names members of requests that the server is known not to have, so
	// that they are not tried: return_progress, or one in another by its own
	// name, such as continuous_usage_stats.
	Lacks []string

	// Memory is what all replies under way may take together, of all engines
	// that have it; beyond it a reply ends with [engine.CodeOverloaded]. nil: no
	// bound.
	Memory *budget.Budget

	Tries     int           // how often a request is sent at most; 0: [DefaultTries]
	FirstByte time.Duration // longest silence before a reply begins, and signs of life alone within it; 0: [DefaultFirstByte]
	Idle      time.Duration // longest silence within a reply; 0: [DefaultIdle]
}

// Defaults of a [Config].
const (
	DefaultTries     = 3
	DefaultConnect   = 10 * time.Second
	DefaultFirstByte = 10 * time.Minute // a long prompt is read before the first token comes
	DefaultIdle      = 2 * time.Minute

	// DefaultAffinityHeader is the header that most routers look at first or
	// can be told to: vLLM's router hashes it before any other, sgl-router and
	// AIBrix bind sessions by it, and Envoy, nginx and Caddy hash any header.
	DefaultAffinityHeader = "X-Session-ID"
)

// Engine asks one model of another server. It implements [engine.Engine].
type Engine struct {
	config Config
	base   *url.URL
	host   string // with the port, if one is given; for messages
	client *wire.Client
	quirks quirks
	wait   func(ctx context.Context, d time.Duration) error // between tries

	maxStream           int           // bytes; see the constant
	refusing, lastWords time.Duration // see the constants
}

var _ engine.Finder = (*Engine)(nil)

// New returns an engine. It talks to nobody yet; the error is a sentence
// about the configuration.
func New(c Config) (*Engine, error) {
	base, err := url.Parse(strings.TrimRight(c.BaseURL, "/"))
	if err != nil {
		return nil, fmt.Errorf("the address %q of a server cannot be read", c.BaseURL)
	}
	switch {
	case base.Scheme != "http" && base.Scheme != "https" || !hostname.InURL(base):
		return nil, fmt.Errorf("the address of a server must begin with https:// or http://, and a host's name, unlike %q", c.BaseURL)
	case base.User != nil || base.RawQuery != "" || base.Fragment != "":
		return nil, fmt.Errorf("the address of a server is a host and a path, without a user, a query or a fragment")
	case c.Model == "":
		return nil, errors.New("a model that is served elsewhere needs the name that it has there: PARAMETER model NAME")
	}
	if base.Path == "" {
		base.Path = "/v1" // as users write it who look at the address in a browser
	}
	c.Tries = cmp.Or(c.Tries, DefaultTries)
	c.FirstByte = cmp.Or(c.FirstByte, DefaultFirstByte)
	c.Idle = cmp.Or(c.Idle, DefaultIdle)
	c.AffinityHeader = cmp.Or(c.AffinityHeader, DefaultAffinityHeader)
	e := &Engine{config: c, base: base, host: base.Host, wait: wait, maxStream: maxStream, refusing: refusing, lastWords: lastWords}
	e.quirks.now = time.Now
	for _, member := range c.Lacks {
		e.quirks.forget(member)
	}
	// Where requests go is decided in [Engine.readdress] alone.
	e.client, err = wire.NewClient(base.String(), wire.WithHTTPClient(newDoer(c.HTTP)))
	return e, err
}

// Allowed asks for the key, and nobody else: its error says why the server may
// not be asked. A request would fail with the same one.
func (e *Engine) Allowed() error {
	_, err := e.key()
	return err
}

// Models implements [engine.Engine]. The server is not asked: what it serves
// besides is not for the clients of this one.
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

// errLeft says that nobody reads the events any more.
var errLeft = errors.New("the reader has left")

// Generate implements [engine.Engine]. A count that the server does not tell
// is 0, and PromptTokens of Start is 0 where the server tells it at the end
// only.
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
	reply, err := e.ask(ctx, op)
	if err != nil {
		return err
	}
	defer reply.close()
	t := newTeller(req, reply.start(), emit)
	if reply.whole() {
		return t.whole(reply)
	}
	return t.stream(reply)
}
