// Package recorder is an HTTP proxy that records what passes through it, whatever
// the client and the server, as cassettes.
//
// A client notices nothing: replies are passed on as they arrive. An exchange is
// recorded when its reply is complete, in the case that [Config.Case] names; those
// of a client that waits for its replies are in its order. A reply that the server
// broke off is recorded as such. One that its client did not wait for, or that is
// too large, is left out, and the log says so. As a client may leave at the last
// event, before the reply ends, the proxy reads on for a while.
package recorder

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"time"

	"github.com/diglot/diglot/internal/budget"
	"github.com/diglot/diglot/internal/cassette"
)

// The default limits.
const (
	DefaultMaxBody   = 8 << 20   // bytes of one body
	DefaultMaxBodies = 256 << 20 // bytes of all bodies of a session, which stay in memory

	// DefaultGrace is how long a reply may take to end after its client has left.
	DefaultGrace = time.Second
)

// Config configures a Proxy.
type Config struct {
	Upstream *url.URL // its path is put before those of requests
	Folder   string   // of the cassettes
	// Case names the case of a request. It may change the request. An error is
	// answered with status 400.
	Case func(*http.Request) (Case, error)
	// Scrub is what to remove from recordings.
	Scrub cassette.Scrub
	// Edit, if not nil, makes what changes the exchanges of a case one by one,
	// after they were scrubbed and normalised.
	Edit func(name string) func(*cassette.Interaction)
	Log  *slog.Logger

	MaxBody   int64         // 0: DefaultMaxBody
	MaxBodies int64         // 0: DefaultMaxBodies
	Grace     time.Duration // 0: DefaultGrace
}

// Proxy is a recording proxy. It is safe for concurrent use.
type Proxy struct {
	config  Config
	bodies  *budget.Budget
	forward *httputil.ReverseProxy
	shelf   *shelf
	running sync.WaitGroup
}

// New returns a proxy.
func New(config Config) *Proxy {
	config.MaxBody = cmp.Or(config.MaxBody, DefaultMaxBody)
	config.Grace = cmp.Or(config.Grace, DefaultGrace)
	p := &Proxy{config: config, bodies: budget.New(cmp.Or(config.MaxBodies, DefaultMaxBodies)), shelf: newShelf(config)}
	p.forward = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(config.Upstream)
			r.Out.Header.Del("Accept-Encoding") // net/http asks for gzip, and unpacks it
		},
		FlushInterval:  -1, // at once
		ModifyResponse: takeReply(config.MaxBody),
		ErrorHandler:   p.unreachable,
		ErrorLog:       slog.NewLogLogger(config.Log.Handler(), slog.LevelWarn),
	}
	return p
}

// Close waits for exchanges in flight and until everything is written. It returns
// the first error of that.
func (p *Proxy) Close() error {
	p.running.Wait()
	return p.shelf.close()
}

func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	where, err := p.config.Case(r)
	if err == nil && !where.Skip {
		err = cassette.CheckName(where.Name)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if where.Skip {
		p.forward.ServeHTTP(w, r)
		return
	}
	p.running.Add(1)
	defer p.running.Done()
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	defer cancel()
	e := &exchange{where: p.shelf.number(where), bodies: p.bodies.Share()}
	e.left = func() { time.AfterFunc(p.config.Grace, cancel) }
	defer context.AfterFunc(r.Context(), e.left)()
	e.end = sync.OnceFunc(func() { p.finish(r.Context(), e) })
	defer e.end() // also when ReverseProxy panics, which aborts a reply
	e.takeRequest(r, p.config.MaxBody)
	p.forward.ServeHTTP(w, r.WithContext(context.WithValue(ctx, exchangeKey{}, e)))
}

// unreachable answers for a server that does not.
func (p *Proxy) unreachable(w http.ResponseWriter, r *http.Request, err error) {
	e := exchangeOf(r)
	if e != nil && e.problem == nil {
		e.problem = err
	}
	http.Error(w, "The server behind this recording proxy does not answer; the log of the proxy has the reason.", http.StatusBadGateway)
}

// finish records an exchange, or logs why not.
func (p *Proxy) finish(ctx context.Context, e *exchange) {
	log := p.config.Log.With("case", e.where.Name, "method", e.request.Method)
	err := e.whole(ctx)
	var i cassette.Interaction
	if err == nil {
		i, err = e.interaction(p.config.MaxBody)
	}
	if err == nil {
		i = p.config.Scrub.Apply(i)
		err = p.shelf.add(e.where, i)
	}
	if err != nil {
		e.bodies.Release()
		log.Warn("not recorded", "reason", err)
		return
	}
	log.Info("recorded", "url", i.Request.URL, "status", i.Response.Code, "aborted", i.Response.Aborted)
}
