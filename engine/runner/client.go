package runner

import (
	"context"
	"encoding/gob"
	"errors"
	"iter"
	"net"
	"sync"

	"github.com/diglot/diglot/engine"
)

// maxIdle is how many connections are kept for the next calls: a crowd of
// requests leaves no more of them behind, at both ends.
const maxIdle = 4

// Client is the engine that a [Serve] at the other end of a socket serves.
type Client struct {
	path     string
	activity activity

	mu     sync.Mutex
	idle   []*clientConn
	closed bool
}

var _ engine.Engine = (*Client)(nil)

// Dial makes a client of the server that listens on the Unix socket at path.
// It connects when it has something to ask.
func Dial(path string) *Client {
	registerWire()
	return &Client{path: path}
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
	r, err := conn.ask(call{})
	switch {
	case err != nil:
		return nil, lost(ctx, err, false)
	case r.Err != nil:
		return nil, r.Err.err()
	}
	return r.Models, nil
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
		for {
			r, err := c.next(ctx, conn)
			switch {
			case err != nil:
				yield(nil, err)
				return
			case r.Last:
				return
			}
			if !yield(r.Event, nil) {
				return
			}
		}
	}
}

// Count implements [engine.Engine].
func (c *Client) Count(ctx context.Context, req *engine.Request) (int, error) {
	r, err := c.ask(ctx, call{Count: toWire(req)})
	return r.Count, err
}

// Embed implements [engine.Engine].
func (c *Client) Embed(ctx context.Context, req *engine.EmbeddingRequest) (*engine.Embeddings, error) {
	r, err := c.ask(ctx, call{Embed: req})
	return r.Embeddings, err
}

// GenerateImages implements [engine.Engine].
func (c *Client) GenerateImages(ctx context.Context, req *engine.ImageRequest) ([]engine.Image, error) {
	r, err := c.ask(ctx, call{Images: req})
	return r.Images, err
}

// ask makes a call that is answered at once and returns its last reply.
func (c *Client) ask(ctx context.Context, question call) (reply, error) {
	conn, err := c.connect(ctx)
	if err != nil {
		return reply{}, unreachable(ctx, err)
	}
	defer c.release(ctx, conn)()
	if err := c.begin(ctx, conn, question); err != nil {
		return reply{}, err
	}
	return c.next(ctx, conn)
}

// begin sends a call and waits until it has arrived.
func (c *Client) begin(ctx context.Context, conn *clientConn, question call) error {
	c.activity.wait() // a process that stands still does not even say that the call arrived
	_, err := conn.ask(question)
	c.activity.got()
	if err != nil {
		return lost(ctx, err, false)
	}
	arrived(ctx)
	return nil
}

// next returns the next reply that is not a beat. One that tells of an error
// is returned as that error.
func (c *Client) next(ctx context.Context, conn *clientConn) (reply, error) {
	for {
		c.activity.wait()
		r, err := conn.receive()
		c.activity.got()
		switch {
		case ctx.Err() != nil: // though the reply may be in the buffers
			return reply{}, engine.AsError(ctx.Err())
		case err != nil:
			return reply{}, lost(ctx, err, true)
		case r.Err != nil:
			return reply{}, r.Err.err()
		case !r.Beat:
			return r, nil
		}
	}
}

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
	return &clientConn{Conn: conn, encoder: gob.NewEncoder(conn), decoder: gob.NewDecoder(conn)}, nil
}

// release closes conn when ctx ends. The function it returns ends the use of
// conn: one whose call has had its last reply is kept while there are few, any
// other is closed, which cancels the call at the other end.
func (c *Client) release(ctx context.Context, conn *clientConn) func() {
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	return func() {
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

type clientConn struct {
	net.Conn
	encoder  *gob.Encoder
	decoder  *gob.Decoder
	complete bool // the last call has had its last reply
}

// ask sends a call and returns its first reply.
func (c *clientConn) ask(question call) (reply, error) {
	c.complete = false
	if err := c.encoder.Encode(question); err != nil {
		return reply{}, err
	}
	return c.receive()
}

func (c *clientConn) receive() (reply, error) {
	var r reply
	err := c.decoder.Decode(&r)
	c.complete = err == nil && r.Last
	return r, err
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

// hasLost returns the lost connection that err is made of, nil if there is
// none.
func hasLost(err error) *lostError {
	var l *lostError
	if errors.As(err, &l) {
		return l
	}
	return nil
}
