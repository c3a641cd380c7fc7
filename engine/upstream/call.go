package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/diglot/diglot/engine"
	wire "github.com/diglot/diglot/gen/openai"
)

const (
	firstWait = 500 * time.Millisecond
	maxWait   = 10 * time.Second // a server that wants more is answered for at once
	maxDrain  = 100 * time.Millisecond
)

// operation is one thing to ask of the server.
type operation struct {
	name     string // last part of the path, for messages
	send     func(ctx context.Context, body io.Reader, dress wire.RequestEditorFn) (*http.Response, error)
	build    func() (*body, error) // again for each try: what is left out may have changed
	affinity string                // hash of the conversation's beginning; empty: none
	foreign  bool                  // it is not of the style
}

// body is what is sent, and what the reply has to be read with.
type body struct {
	bytes    []byte
	optional []string // members in it that not every server knows
	ignored  []string // what the client wants and the server does not know
	tools    []int    // for each tool in it, which of the request's it is
}

// ask sends a request until it is answered. What has not begun to be answered
// is sent again a few times where that may help.
func (e *Engine) ask(ctx context.Context, op operation) (*reply, error) {
	if err := e.checkRoute(ctx); err != nil {
		return nil, err
	}
	for try := 1; ; {
		r, fail := e.once(ctx, op)
		switch {
		case fail == nil:
			return r, nil
		case fail.learned:
			continue
		case !fail.again || try == e.config.Tries || fail.dangerous && try > 1:
			return nil, fail.err
		}
		pause := max(backoff(try), fail.after)
		if pause > maxWait {
			return nil, fail.err
		}
		e.config.Log.InfoContext(ctx, "upstream: trying again", "host", e.host, "model", e.config.Model,
			"operation", op.name, "try", try, "wait", pause, "err", fail.err)
		if err := e.wait(ctx, pause); err != nil {
			return nil, err
		}
		try++
	}
}

// backoff doubles with each try and is spread, so that the requests that were
// refused together do not come back together.
func backoff(try int) time.Duration {
	d := firstWait << (try - 1)
	return d/2 + rand.N(d/2)
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// failure is a try that came to nothing.
type failure struct {
	err     error
	again   bool          // another try may succeed
	after   time.Duration // not before this
	learned bool          // another try will differ

	dangerous bool // the request may be what the server died of
}

var errSilent = errors.New("the server is silent")

func (e *Engine) once(ctx context.Context, op operation) (*reply, *failure) {
	sent, err := op.build()
	if err != nil {
		return nil, &failure{err: err}
	}
	key, err := e.key()
	if err != nil {
		return nil, &failure{err: err}
	}
	trying, cancel := context.WithCancelCause(ctx)
	first := time.AfterFunc(e.config.FirstByte, func() { cancel(errSilent) })
	response, err := op.send(trying, bytes.NewReader(sent.bytes), e.dress(key, op))
	first.Stop()
	if err != nil {
		fail := e.unanswered(ctx, trying, err)
		cancel(nil)
		return nil, fail
	}
	watched := &watched{in: response.Body, ctx: trying, cancel: cancel, limit: e.config.FirstByte, idle: e.config.Idle}
	r := &reply{header: response.Header, in: watched, sent: sent, engine: e, ctx: ctx, operation: op.name, key: key}
	if response.StatusCode == http.StatusOK {
		return r, nil
	}
	defer r.close()
	refusal := readRefusal(response, watched, key)
	if e.quirks.learn(refusal, sent.optional) {
		return nil, &failure{learned: true}
	}
	return nil, e.refused(refusal, op)
}

func (e *Engine) key() (string, error) {
	if e.config.Key == nil {
		return "", nil
	}
	return e.config.Key()
}

// readdress points a request of the generated client, whose paths begin with
// /v1, to the server.
func (e *Engine) readdress(_ context.Context, r *http.Request) error {
	path := strings.TrimPrefix(r.URL.Path, e.base.Path)
	r.URL = e.base.JoinPath(strings.TrimPrefix(path, "/v1"))
	r.Host = r.URL.Host
	return nil
}

// dress adds the headers.
func (e *Engine) dress(key string, op operation) wire.RequestEditorFn {
	return func(ctx context.Context, r *http.Request) error {
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("User-Agent", "diglot")
		if key != "" {
			r.Header.Set("Authorization", "Bearer "+key)
		}
		if via := e.route(ctx); via != "" {
			r.Header.Set("Via", via)
		}
		if op.affinity != "" && e.config.AffinityHeader != "-" {
			r.Header.Set(e.config.AffinityHeader, op.affinity)
		}
		return nil
	}
}

// newDoer takes over the transport of a client. Redirects are not followed:
// a server that moves is for the user to hear of, and no key or prompt goes to
// a host that they have not named. Time limits of the client would cut long
// replies; [watched] has better ones.
func newDoer(c *http.Client) *http.Client {
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if c != nil && c.Transport != nil {
		client.Transport = c.Transport
		return client
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = (&net.Dialer{Timeout: DefaultConnect, KeepAlive: 30 * time.Second}).DialContext
	transport.TLSHandshakeTimeout = DefaultConnect
	transport.MaxIdleConnsPerHost = 64
	client.Transport = transport
	return client
}

// watched is the body of a reply that may not be silent for too long. Only
// the time that is spent reading counts, as a slow client of ours is not the
// server's fault.
type watched struct {
	in     io.ReadCloser
	ctx    context.Context // of the try
	cancel context.CancelCauseFunc
	limit  time.Duration // of the next silence
	idle   time.Duration // of the ones after it
}

func (w *watched) Read(p []byte) (int, error) {
	timer := time.AfterFunc(w.limit, func() { w.cancel(errSilent) })
	n, err := w.in.Read(p)
	timer.Stop()
	if n > 0 {
		w.limit = w.idle
	}
	if err != nil && err != io.EOF && errors.Is(context.Cause(w.ctx), errSilent) {
		err = errSilent
	}
	return n, err
}

func (w *watched) Close() error {
	w.cancel(nil)
	return w.in.Close()
}

// reply is a request that the server has accepted.
type reply struct {
	header http.Header
	in     *watched
	sent   *body
	engine *Engine
	ctx    context.Context // of the request

	operation string // its name
	key       string // that was sent, to keep it out of errors
}

func (r *reply) close() { _ = r.in.Close() }

// drain reads what comes after the end, which is nothing, so that the
// connection can be used again. A server that says no more has little time
// for it.
func (r *reply) drain() {
	r.in.limit, r.in.idle = maxDrain, maxDrain
	_, _ = io.CopyN(io.Discard, r.in, 4<<10)
}

// whole says whether the reply is one JSON value: some servers do not stream.
func (r *reply) whole() bool {
	kind, _, _ := strings.Cut(r.header.Get("Content-Type"), ";")
	return strings.TrimSpace(kind) == "application/json"
}

// decode reads a reply of at most limit bytes that is one JSON value.
func (r *reply) decode(value any, limit int64) error {
	limited := &io.LimitedReader{R: r.in, N: limit + 1}
	text, err := io.ReadAll(limited)
	if err != nil {
		return r.broken(err)
	}
	if limited.N <= 0 {
		return r.malformed("it is longer than a reply may be")
	}
	if err := json.Unmarshal(text, value); err != nil {
		return r.malformed(err.Error())
	}
	return nil
}

// start is the first event of the reply, as far as its headers tell it.
func (r *reply) start() engine.Start {
	places, ignored := readIgnored(r.header.Get("Diglot-Ignored"), r.sent)
	return engine.Start{Unenforced: places, Ignored: append(ignored, r.sent.ignored...)}
}
