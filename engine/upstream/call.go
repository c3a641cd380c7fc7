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
	maxWait   = 10 * time.Second // a server that wants more is answered for at once
	maxDrain  = 100 * time.Millisecond
)

// operation is one thing to ask of the server.
type operation struct {
	name     string // last part of the path, for messages
	send     func(ctx context.Context, body io.Reader, dress wire.RequestEditorFn) (*http.Response, error)
	build    func(*lesson) (*body, error) // again for each try: what is left out may have changed
	affinity string                       // hash of the conversation's beginning; empty: none
	foreign  bool                         // it is not of the style
	limit    int64                        // most bytes of a reply that is one JSON value; 0: [maxReply]
	each     int                          // bytes that a value of a reply is decoded to; 0: [valueWeight]
}

// body is what is sent, and what the reply has to be read with.
type body struct {
	bytes    []byte
	optional []string // members in it that not every server knows
	ignored  []string // what the client wants and the server does not know
	used     engine.Used
	tools    []int // for each tool in it, which of the request's it is
}

// has reports whether a member that not every server knows is in it, with whatever
// value.
func (b *body) has(name string) bool {
	return slices.ContainsFunc(b.optional, func(member string) bool {
		member, _, _ = strings.Cut(member, "=")
		return member == name
	})
}

// ask sends a request until it is answered. What has not begun to be answered
// is sent again a few times where that may help.
func (e *Engine) ask(ctx context.Context, op operation) (*reply, error) {
	if err := e.checkRoute(ctx); err != nil {
		return nil, err
	}
	lesson := newLesson(&e.quirks)
	for try := 1; ; {
		r, fail := e.once(ctx, op, lesson)
		switch {
		case fail == nil:
			lesson.proven()
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

func (e *Engine) once(ctx context.Context, op operation, lesson *lesson) (*reply, *failure) {
	sent, err := op.build(lesson)
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
	watched := &watched{in: response.Body, ctx: trying, cancel: cancel, limit: e.config.FirstByte, idle: e.config.Idle, barren: e.config.FirstByte}
	r := &reply{header: response.Header, in: watched, sent: sent, engine: e, ctx: ctx, op: op, key: key, share: e.config.Memory.Share()}
	var refusal refusal
	if response.StatusCode == http.StatusOK {
		told, ok := r.open()
		if ok {
			return r, nil
		}
		refusal = told
	} else {
		refusal = r.readRefusal(response.StatusCode)
	}
	r.close()
	if lesson.read(refusal, sent.optional) {
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
