package runner

import (
	"bufio"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"iter"
	"net"
	"sync"
	"time"

	"github.com/diglot/diglot/engine"
)

// maxIdle is how many connections are kept for the next calls: a crowd of
// requests leaves no more of them behind, at both ends.
const maxIdle = 4

// Client is the engine that a [Serve] at the other end of a socket serves.
type Client struct {
	path        string
	budget      *Budget
	restTimeout time.Duration
	activity    activity

	mu     sync.Mutex
	idle   []*clientConn
	closed bool
}

var _ engine.Engine = (*Client)(nil)

// Dial makes a client of the server that listens on the Unix socket at path.
// It connects when it has something to ask. What the server sends takes its
// memory from b.
func Dial(path string, b *Budget) *Client {
	registerWire()
	return &Client{path: path, budget: b, restTimeout: restTimeout}
}

// Close closes the connections that nothing uses, and each of the others
// once its request has ended.
func (c *Client) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for _, conn := range c.idle {
		_ = conn.Close()
	}
	c.idle = nil
	return nil
}

// Models implements [engine.Engine].
func (c *Client) Models(ctx context.Context) ([]engine.Model, error) {
	conn, err := c.connect(ctx)
	if err != nil {
		return nil, unreachable(ctx, err)
	}
	defer c.release(ctx, conn)()
	m, err := conn.ask(ctx, call{})
	if err != nil {
		return nil, lost(ctx, err, false)
	}
	switch m := m.(type) {
	case listed:
		if err := checkModels(m.models); err != nil {
			return nil, lost(ctx, &brokenError{err}, false)
		}
		return m.models, nil
	case refused:
		return nil, failure(ctx, m, engine.Extent{})
	}
	return nil, lost(ctx, unasked(m), false)
}

// Generate implements [engine.Engine].
func (c *Client) Generate(ctx context.Context, req *engine.Request) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) {
		conn, err := c.connect(ctx)
		if err != nil {
			yield(nil, unreachable(ctx, err))
			return
		}
		defer c.release(ctx, conn)()
		if err := c.begin(ctx, conn, call{Generate: toWire(req)}); err != nil {
			yield(nil, err)
			return
		}
		s := engine.NewSequence(req)
		for {
			event, err := c.event(ctx, conn, s, req.Extent())
			if !yield(event, err) || err != nil {
				return
			}
			if _, is := event.(engine.Done); is {
				return
			}
		}
	}
}

// event returns the next event of a reply. One that ends it is held until
// nothing has come behind it.
func (c *Client) event(ctx context.Context, conn *clientConn, s *engine.Sequence, x engine.Extent) (engine.Event, error) {
	m, err := c.next(ctx, conn, x)
	if err != nil {
		return nil, err
	}
	event, is := m.(engine.Event)
	if !is || conn.bulk != nil {
		return nil, lost(ctx, unasked(m), true)
	}
	if err := s.Add(event); err != nil {
		return nil, lost(ctx, &brokenError{err}, true)
	}
	switch e := event.(type) {
	case engine.Start:
		e.Prompt = conn.prompt
		return e, nil
	case engine.Done:
		return e, c.end(ctx, conn, x)
	}
	return event, nil
}

// end reads what ends a reply: nothing more comes.
func (c *Client) end(ctx context.Context, conn *clientConn, x engine.Extent) error {
	m, err := c.next(ctx, conn, x)
	if err != nil {
		return err
	}
	if _, is := m.(ended); !is {
		return lost(ctx, unasked(m), true)
	}
	return nil
}

// Count implements [engine.Engine].
func (c *Client) Count(ctx context.Context, req *engine.Request) (int, error) {
	return answered(ctx, c, call{Count: toWire(req)}, req.Extent(), func(m counted, _ []byte) (int, error) {
		if !isCount(m.n) {
			return 0, fmt.Errorf("%d tokens", m.n)
		}
		return m.n, nil
	})
}

// Embed implements [engine.Engine].
func (c *Client) Embed(ctx context.Context, req *engine.EmbeddingRequest) (*engine.Embeddings, error) {
	return answered(ctx, c, call{Embed: req}, req.Extent(), func(m embedded, bulk []byte) (*engine.Embeddings, error) {
		return toEmbeddings(m, bulk, req)
	})
}

// GenerateImages implements [engine.Engine].
func (c *Client) GenerateImages(ctx context.Context, req *engine.ImageRequest) ([]engine.Image, error) {
	return answered(ctx, c, call{Images: req}, engine.Extent{}, func(m drawn, bulk []byte) ([]engine.Image, error) {
		return toImages(m, bulk, req)
	})
}

// answered makes a call that has one answer, a message of type M. what makes the
// result of it, and of the bytes that came before it; its error is about what no
// process may send.
func answered[M message, T any](ctx context.Context, c *Client, question call, x engine.Extent, what func(M, []byte) (T, error)) (T, error) {
	var none T
	conn, err := c.connect(ctx)
	if err != nil {
		return none, unreachable(ctx, err)
	}
	defer c.release(ctx, conn)()
	if err := c.begin(ctx, conn, question); err != nil {
		return none, err
	}
	m, err := c.next(ctx, conn, x)
	if err != nil {
		return none, err
	}
	answer, is := m.(M)
	if !is {
		return none, lost(ctx, unasked(m), true)
	}
	result, err := what(answer, conn.bulk)
	if err != nil {
		return none, lost(ctx, &brokenError{err}, true)
	}
	return result, nil
}

// begin sends a call and waits until it has arrived.
func (c *Client) begin(ctx context.Context, conn *clientConn, question call) error {
	m, err := conn.ask(ctx, question)
	if err != nil {
		return lost(ctx, err, false)
	}
	if _, is := m.(taken); !is {
		return lost(ctx, unasked(m), false)
	}
	arrived(ctx)
	return nil
}

// next returns the next message that is not a beat. One that tells of an error
// is returned as that error.
func (c *Client) next(ctx context.Context, conn *clientConn, x engine.Extent) (message, error) {
	for {
		m, err := conn.receive(ctx)
		switch {
		case ctx.Err() != nil: // though the message may be in the buffers
			return nil, engine.AsError(ctx.Err())
		case err != nil:
			return nil, lost(ctx, err, true)
		}
		switch m := m.(type) {
		case beat:
		case refused:
			return nil, failure(ctx, m, x)
		default:
			return m, nil
		}
	}
}

// failure is the error that a process tells, about a request of extent x.
func failure(ctx context.Context, f refused, x engine.Extent) *engine.Error {
	if err := checkError(f.wireError, x); err != nil {
		return lost(ctx, &brokenError{err}, true)
	}
	return f.err()
}

// unasked is the error of a message that does not belong where it came.
func unasked(m message) error { return broken("%T out of turn", m) }

// connect takes an idle connection, or makes one.
func (c *Client) connect(ctx context.Context) (*clientConn, error) {
	c.mu.Lock()
	if n := len(c.idle); n > 0 {
		conn := c.idle[n-1]
		c.idle = c.idle[:n-1]
		c.mu.Unlock()
		return conn, nil
	}
	c.mu.Unlock()
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unix", c.path)
	if err != nil {
		return nil, err
	}
	return &clientConn{
		Conn:        conn,
		encoder:     gob.NewEncoder(conn),
		reader:      bufio.NewReader(conn),
		activity:    &c.activity,
		restTimeout: c.restTimeout,
		share:       share{budget: c.budget},
		small:       make([]byte, smallFrame),
	}, nil
}

// release closes conn when ctx ends. The function it returns ends the use of
// conn: one whose call has had its last reply is kept while there are few, any
// other is closed, which cancels the call at the other end.
func (c *Client) release(ctx context.Context, conn *clientConn) func() {
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	return func() {
		conn.share.end()
		conn.prompt, conn.bulk = "", nil
		if !stop() {
			return // closed already
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if !conn.complete || c.closed || len(c.idle) == maxIdle {
			_ = conn.Close()
			return
		}
		c.idle = append(c.idle, conn)
	}
}

// lostError is a connection that ended before the reply did.
type lostError struct {
	err     error
	arrived bool // the server had the request
}

func (e *lostError) Error() string { return "connection to the model's process: " + e.err.Error() }
func (e *lostError) Unwrap() error { return e.err }

// lost is the error of a call whose connection failed with err.
func lost(ctx context.Context, err error, arrived bool) *engine.Error {
	if ctx.Err() != nil {
		return engine.AsError(ctx.Err())
	}
	if own := (*engine.Error)(nil); errors.As(err, &own) { // of this side: the process has done nothing wrong
		return own
	}
	return engine.Errorf(engine.CodeEngineCrashed, "The model's process ended while it worked on this request.").
		Because(&lostError{err: err, arrived: arrived})
}

// unreachable is the error of a call for which no connection could be made.
// Where this process is what lacks the means, the other one is not to blame.
func unreachable(ctx context.Context, err error) *engine.Error {
	if !exhausted(err) {
		return lost(ctx, err, false)
	}
	e := engine.Errorf(engine.CodeOverloaded, "The server has no room for another request; try again later.").Because(err)
	e.RetryAfter = 1
	return e
}

// isBroken reports whether err is about what no process may send.
func isBroken(err error) bool {
	var b *brokenError
	return errors.As(err, &b)
}

// hasLost returns the lost connection that err is made of, nil if there is
// none.
func hasLost(err error) *lostError {
	var l *lostError
	if errors.As(err, &l) {
		return l
	}
	return nil
}
