package upstream

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/diglot/diglot/engine"
	wire "github.com/diglot/diglot/gen/openai"
)

const (
	firstWait = 500 * time.Millisecond
	maxWait   = 10 * time.Second // fail at once if the server asks for more
	maxDrain  = 100 * time.Millisecond
)

// operation is one kind of request to the server.
type operation struct {
	name     string // last part of the path, for messages
	send     func(ctx context.Context, body io.Reader, dress wire.RequestEditorFn) (*http.Response, error)
	build    func(*fallback) (*body, error) // called for each attempt: the omitted fields may have changed
	affinity string                         // hash of the conversation's prefix; empty: none
	foreign  bool                           // not part of the OpenAI style
	limit    int64                          // of a reply that is not streamed, in bytes; 0: [maxReply]
	each     int                            // size in memory of a decoded JSON value; 0: [valueWeight]
}

// body is the body of a request, and what is needed to read its reply.
type body struct {
	bytes    []byte
	optional []string // fields in it that not every server knows
	ignored  []string // requested parameters that the server does not know
	used     engine.Used
	tools    []int // for each tool in it, its index in the request
}

// has reports whether an optional field is in the body, with whatever value.
func (b *body) has(name string) bool {
	return slices.ContainsFunc(b.optional, func(field string) bool {
		field, _, _ = strings.Cut(field, "=")
		return field == name
	})
}

// do sends a request and retries it a few times if that may help, as long as
// no reply has begun.
func (e *Engine) do(ctx context.Context, op operation) (*reply, error) {
	if err := e.checkRoute(ctx); err != nil {
		return nil, err
	}
	fb := newFallback(&e.quirks)
	for try := 1; ; {
		r, fail := e.attempt(ctx, op, fb)
		switch {
		case fail == nil:
			fb.confirm()
			return r, nil
		case fail.refined:
			continue
		case !fail.retry || try == e.config.Tries || fail.maybeCrash && try > 1:
			return nil, fail.err
		}
		pause := max(backoff(try), fail.retryAfter)
		if pause > maxWait {
			return nil, fail.err
		}
		e.config.Log.InfoContext(ctx, "upstream: retrying", "host", e.host, "model", e.config.Model,
			"operation", op.name, "try", try, "wait", pause, "err", fail.err)
		if err := e.wait(ctx, pause); err != nil {
			return nil, err
		}
		try++
	}
}

// backoff is exponential with jitter, so that requests refused together are not
// retried together.
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

// failure is a failed attempt.
type failure struct {
	err        error
	retry      bool          // a retry may succeed
	retryAfter time.Duration // minimum wait before a retry
	refined    bool          // a retry omits fields that the server refused

	maybeCrash bool // the request may have crashed the server
}

var errTimeout = errors.New("no data from the server for too long")

func (e *Engine) attempt(ctx context.Context, op operation, fb *fallback) (*reply, *failure) {
	sent, err := op.build(fb)
	if err != nil {
		return nil, &failure{err: err}
	}
	key, err := e.key()
	if err != nil {
		return nil, &failure{err: err}
	}
	trying, cancel := context.WithCancelCause(ctx)
	first := time.AfterFunc(e.config.FirstByte, func() { cancel(errTimeout) })
	response, err := op.send(trying, bytes.NewReader(sent.bytes), e.setHeaders(key, op))
	first.Stop()
	if err != nil {
		fail := e.sendFailure(ctx, trying, err)
		cancel(nil)
		return nil, fail
	}
	watched := &timedBody{in: response.Body, ctx: trying, cancel: cancel, limit: e.config.FirstByte, idle: e.config.Idle, contentless: e.config.FirstByte}
	r := &reply{header: response.Header, in: watched, sent: sent, engine: e, ctx: ctx, op: op, key: key, share: e.config.Memory.Share()}
	var refusal refusal
	if response.StatusCode == http.StatusOK {
		refused, ok := r.open()
		if ok {
			return r, nil
		}
		refusal = refused
	} else {
		refusal = r.readRefusal(response.StatusCode)
	}
	r.close()
	if fb.read(refusal, sent.optional) {
		return nil, &failure{refined: true}
	}
	return nil, e.refused(refusal, op)
}

func (e *Engine) key() (string, error) {
	if e.config.Key == nil {
		return "", nil
	}
	return e.config.Key()
}

// rewriteURL rewrites the URL of the generated client, whose paths begin with
// /v1, to that of the server.
func (e *Engine) rewriteURL(_ context.Context, r *http.Request) error {
	path := strings.TrimPrefix(r.URL.Path, e.base.Path)
	r.URL = e.base.JoinPath(strings.TrimPrefix(path, "/v1"))
	r.Host = r.URL.Host
	return nil
}

// setHeaders sets the headers.
func (e *Engine) setHeaders(key string, op operation) wire.RequestEditorFn {
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

// newDoer uses the transport of c. It follows no redirects: no key or prompt
// goes to a host that the user has not named. It drops the client's timeout,
// which would cut long replies; [timedBody] has better ones.
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
