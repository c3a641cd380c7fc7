// Package handlers is the HTTP server: both API styles over one engine, and all that they
// share. It routes requests to the styles, enforces limits, checks Host, Origin and keys,
// assigns request ids, logs, traces, and recovers from panics.
//
// Fields are mapped in handlers/openai and handlers/anthropic only.
package handlers

import (
	"cmp"
	"context"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/handlers/anthropic"
	"github.com/diglot/diglot/handlers/documents"
	"github.com/diglot/diglot/handlers/internal/exchange"
	"github.com/diglot/diglot/handlers/internal/fetch"
	"github.com/diglot/diglot/handlers/openai"
	"github.com/diglot/diglot/handlers/site"
	"github.com/diglot/diglot/openapi"
)

// Config configures the handler.
type Config struct {
	Engine engine.Engine // required
	Log    *slog.Logger  // required

	Documents openapi.Documents // nil: the embedded one
	Profile   openapi.Profile   // zero: the default profile
	Strict    bool              // ignored fields are errors

	Keys         *Keys    // nil: any key is accepted
	Listen       string   // host:port of the listener; its host is an allowed Host
	AllowHosts   []string // further allowed values of Host
	AllowOrigins []string // further allowed origins; "*" is all

	AllowImageHosts []string // hosts whose images may be fetched from private addresses

	MaxBody int64         // bytes of a request body; 0: DefaultMaxBody
	Budget  *Budget       // shared by all requests; nil: the defaults
	Stall   time.Duration // how long a client may make no progress; 0: DefaultStall
	Ready   func() bool   // reports readiness; nil: always

	// Status tells the page at / about this machine. nil: the page shows names of models only.
	Status func(context.Context) site.Status
	Docs   fs.FS // the reference, at /docs/; nil: none

	// Wrap wraps the operations of each style, inside the checks of Host, Origin and keys. refuse
	// writes an error of the style. nil: nothing.
	Wrap func(operations http.Handler, refuse Refuse) http.Handler

	// Shutdown interrupts running requests when it ends, with an error reply. nil: never.
	Shutdown context.Context

	Trace io.Writer        // one JSON line per request; nil: none
	Clock func() time.Time // nil: time.Now
}

// Refuse answers a request with an error of its style.
type Refuse func(http.ResponseWriter, *http.Request, *engine.Error)

// DefaultStall is how long a client may neither send its body nor read its reply.
const DefaultStall = 30 * time.Second

// style is what the shared code needs to know of an API style.
type style struct {
	document   *openapi.Document // compiled for the profile
	handler    http.Handler
	writeError func(http.ResponseWriter, *http.Request, *engine.Error)
}

// New returns the handler of everything that the server serves.
func New(c Config) (http.Handler, error) {
	if c.Clock == nil {
		c.Clock = time.Now
	}
	if c.Profile == "" {
		c.Profile = openapi.ProfileDefault
	}
	c.MaxBody = cmp.Or(c.MaxBody, DefaultMaxBody)
	c.Stall = cmp.Or(c.Stall, DefaultStall)
	c.Budget = cmp.Or(c.Budget, NewBudget(DefaultMaxBodies, DefaultMaxRequests))
	c.Engine = fetch.New(c.Engine, c.AllowImageHosts)
	if c.Shutdown != nil {
		c.Engine = interruptible{c.Engine, c.Shutdown}
	}
	c.Engine = engine.Checked(c.Engine)
	compiled, err := c.documents()
	if err != nil {
		return nil, err
	}
	pages, err := site.New(site.Config{Models: c.Engine.Models, Profile: string(c.Profile), Status: c.Status, Docs: c.Docs, Clock: c.Clock})
	if err != nil {
		return nil, err
	}
	styles := newStyles(c, compiled)
	return &observer{
		next: &gate{
			access: newAccess(c, compiled.ReplyHeaders()), styles: styles, pages: pages, budget: c.Budget, ready: c.Ready,
			files: documents.New(compiled, c.Keys != nil),
		},
		style:  styles.of,
		log:    c.Log,
		trace:  &tracer{out: c.Trace, log: c.Log},
		clock:  c.Clock,
		strict: c.Strict,
		budget: c.Budget,
		stall:  c.Stall,
	}, nil
}

// styles holds one router per style: both have /v1/models, and chi silently replaces a
// route that is registered twice.
type styles struct {
	documents         openapi.Documents // compiled for the profile
	openai, anthropic style
}

func newStyles(c Config, documents openapi.Documents) styles {
	o := openai.New(openai.Config{Engine: c.Engine, Document: documents.OpenAI, MaxBody: c.MaxBody, Clock: c.Clock})
	a := anthropic.New(anthropic.Config{Engine: c.Engine, Document: documents.Anthropic, MaxBody: c.MaxBody, Clock: c.Clock})
	wrap := c.Wrap
	if wrap == nil {
		wrap = func(operations http.Handler, _ Refuse) http.Handler { return operations }
	}
	return styles{
		documents: documents,
		openai:    style{documents.OpenAI, wrap(o, openai.WriteError), openai.WriteError},
		anthropic: style{documents.Anthropic, wrap(a, anthropic.WriteError), anthropic.WriteError},
	}
}

// documents returns the documents compiled for the profile.
func (c Config) documents() (openapi.Documents, error) {
	own, err := openapi.Embedded()
	if err != nil {
		return own, err
	}
	return openapi.Documents{
		OpenAI:    cmp.Or(c.Documents.OpenAI, own.OpenAI),
		Anthropic: cmp.Or(c.Documents.Anthropic, own.Anthropic),
	}.Narrow(c.Profile)
}

// of picks the style of a request by its path, else by the header that every Anthropic SDK
// sends.
func (s styles) of(r *http.Request) style {
	document, ok := s.documents.ForPath(r.URL.Path)
	if document == s.anthropic.document && ok || !ok && r.Header.Get("Anthropic-Version") != "" {
		return s.anthropic
	}
	return s.openai
}

// gate passes allowed requests on to their style.
type gate struct {
	access access
	styles styles
	pages  *site.Site
	budget *Budget
	ready  func() bool
	files  documents.Files
}

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.access.cors(w, r)
	style := g.styles.of(r)
	exchange.From(r.Context()).Document = style.document
	switch {
	case connectionOf(r.Context()).isTurnedAway():
		style.writeError(w, r, tooManyConnections())
		return
	case isPreflight(r):
		w.WriteHeader(http.StatusNoContent)
		return
	case g.pages.Handles(r):
		g.servePage(w, r, style)
		return
	case r.URL.Path == "/health" || r.URL.Path == "/":
		serveAlive(w, r, style)
		return
	case r.URL.Path == "/readyz":
		g.serveReady(w, r, style)
		return
	case g.files.Has(r.URL.Path):
		g.serveDocument(w, r, style)
		return
	}
	if err := g.refusal(r); err != nil {
		if err.Code == engine.CodeUpgrade {
			w.Header().Set("Upgrade", "HTTP/1.1") // the supported protocol
			w.Header().Set("Connection", "Upgrade")
		}
		style.writeError(w, r, err)
		return
	}
	if r.Method == http.MethodPost {
		if err := g.budget.room(); err != nil {
			style.writeError(w, r, err)
			return
		}
		slot := &slot{budget: g.budget}
		defer slot.leave()
		exchange.From(r.Context()).Enter = slot.enter
	}
	style.handler.ServeHTTP(w, escapeModel(withBody(withRoute(r)), style.document))
}

// refusal returns why a request is refused by its headers alone, or nil.
func (g *gate) refusal(r *http.Request) *engine.Error {
	if err := g.access.check(r); err != nil {
		return err
	}
	if protocol := upgrade(r); protocol != "" {
		return engine.Errorf(engine.CodeUpgrade, "The server does not speak %s; send the request over HTTP, and stream with server-sent events.", protocol)
	}
	if right := g.styles.documents.SuggestedPath(r.URL.Path); right != r.URL.Path {
		return wrongBase(r, right, g.styles.documents.Base())
	}
	return nil
}

// servePage answers requests for pages. Those without a key may see them, but no models.
func (g *gate) servePage(w http.ResponseWriter, r *http.Request, style style) {
	err := g.access.checkSource(r)
	if err == nil {
		err = g.pages.Serve(w, r, site.Visitor{KeyNeeded: g.access.keys != nil, Known: g.access.keyAllowed(r)})
	}
	switch {
	case err == nil:
	case site.PrefersHTML(r):
		exchange.From(r.Context()).Fail(err)
		g.pages.WriteError(w, err)
	default:
		style.writeError(w, r, err)
	}
}

// serveReady answers readiness probes.
func (g *gate) serveReady(w http.ResponseWriter, r *http.Request, style style) {
	if g.ready == nil || g.ready() {
		serveAlive(w, r, style)
		return
	}
	err := engine.Errorf(engine.CodeOverloaded, "The server is starting or shutting down.")
	err.RetryAfter = 1
	style.writeError(w, r, err)
}

// serveDocument answers tools that read the documents.
func (g *gate) serveDocument(w http.ResponseWriter, r *http.Request, style style) {
	if !reads(w, r, style) {
		return
	}
	file, err := g.files.Open(r.URL.Path)
	if err != nil {
		style.writeError(w, r, engine.Errorf(engine.CodeInternal, "Internal error.").Because(err))
		return
	}
	file.ServeHTTP(w, r)
}

// withBody turns HEAD into GET, which has the same headers; net/http drops the body.
func withBody(r *http.Request) *http.Request {
	if r.Method != http.MethodHead {
		return r
	}
	get := *r
	get.Method = http.MethodGet
	return &get
}

// serveAlive answers liveness probes, and clients that request the base URL first.
func serveAlive(w http.ResponseWriter, r *http.Request, style style) {
	if !reads(w, r, style) {
		return
	}
	if r.URL.Path == "/" {
		w.Header().Add("Vary", "Accept") // browsers get a page
	}
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, `{"status":"ok"}`+"\n")
}

// reads reports whether the method only reads; if not, it answers with an error.
func reads(w http.ResponseWriter, r *http.Request, style style) bool {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return true
	}
	w.Header().Set("Allow", "GET, HEAD")
	style.writeError(w, r, engine.Errorf(engine.CodeMethodNotAllowed, "The method %s is not allowed here.", r.Method))
	return false
}

func wrongBase(r *http.Request, right, version string) *engine.Error {
	base := "http://" + r.Host
	if r.TLS != nil {
		base = "https://" + r.Host
	}
	return engine.Errorf(engine.CodeNotFound,
		"No such path: %s. Did you mean %s? The base URL is %s%s for OpenAI clients and %s for Anthropic clients.",
		r.URL.Path, right, base, version, base)
}

// escapeModel escapes the slashes in a model name, as SDKs do, so that it is one path
// segment.
func escapeModel(r *http.Request, document *openapi.Document) *http.Request {
	raw := document.RawPath(r.URL.Path)
	if raw == "" {
		return r
	}
	u := *r.URL
	u.RawPath = raw
	clone := r.WithContext(r.Context())
	clone.URL = &u
	return clone
}
