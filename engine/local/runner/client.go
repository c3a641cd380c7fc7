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

// maxIdle is how many idle connections are kept.
const maxIdle = 4

// Client is the client of [Serve].
type Client struct {
	path           string
	budget         *Budget
	messageTimeout time.Duration
	activity       activity
	progress       progress

	mu     sync.Mutex
	idle   []*clientConn
	closed bool
}

var _ engine.Engine = (*Client)(nil)

// Dial returns a client of the server that listens on the Unix socket at path. It
// connects on the first call. Memory for received messages is reserved from b.
func Dial(path string, b *Budget) *Client {
	registerWire()
	return &Client{path: path, budget: b, messageTimeout: messageTimeout}
}

// Close closes idle connections, and others when their requests end.
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
	case modelList:
		if err := checkModels(m.models); err != nil {
			return nil, lost(ctx, &protocolError{err}, false)
		}
		return m.models, nil
	case errorReply:
		return nil, failure(ctx, m, engine.Extent{})
	}
	return nil, lost(ctx, unexpected(m), false)
}

// Generate implements [engine.Engine].
func (c *Client) Generate(ctx context.Context, req *engine.Request) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) {
		s := engine.NewSequence(req)
		c.events(ctx, call{Generate: toWire(req)}, yield, func(conn *clientConn) (event engine.Event, last bool, err error) {
			event, err = c.event(ctx, conn, s, req.Extent())
			_, last = event.(engine.Done)
			return event, last, err
		})
	}
}

// events makes a call whose reply is events, which next reads.
func (c *Client) events(ctx context.Context, question call, yield func(engine.Event, error) bool, next func(*clientConn) (event engine.Event, last bool, err error)) {
	conn, err := c.connect(ctx)
	if err != nil {
		yield(nil, unreachable(ctx, err))
		return
	}
	defer c.release(ctx, conn)()
	if err := c.begin(ctx, conn, question); err != nil {
		yield(nil, err)
		return
	}
	for {
		event, last, err := next(conn)
		if !yield(event, err) || err != nil || last {
			return
		}
	}
}

// event returns the next event. It returns Done only after the end of the reply, as
// an error may still follow.
func (c *Client) event(ctx context.Context, conn *clientConn, s *engine.Sequence, x engine.Extent) (engine.Event, error) {
	m, err := c.next(ctx, conn, x)
	if err != nil {
		return nil, err
	}
	event, is := m.(engine.Event)
	if !is || conn.payload != nil {
		return nil, lost(ctx, unexpected(m), true)
	}
	if err := s.Add(event); err != nil {
		return nil, lost(ctx, &protocolError{err}, true)
	}
	switch e := event.(type) {
	case engine.Start:
		e.Prompt = conn.prompt
		return e, nil
	case engine.Done:
		return e, c.endOfReply(ctx, conn, x)
	}
	return event, nil
}

// endOfReply reads the message that ends a reply.
func (c *Client) endOfReply(ctx context.Context, conn *clientConn, x engine.Extent) error {
	m, err := c.next(ctx, conn, x)
	if err != nil {
		return err
	}
	if _, is := m.(endOfEvents); !is {
		return lost(ctx, unexpected(m), true)
	}
	return nil
}

// Count implements [engine.Engine].
func (c *Client) Count(ctx context.Context, req *engine.Request) (int, error) {
	return unaryCall(ctx, c, call{Count: toWire(req)}, req.Extent(), func(m tokenCount, _ []byte) (int, error) {
		if !isCount(m.n) {
			return 0, fmt.Errorf("%d tokens", m.n)
		}
		return m.n, nil
	})
}

// Embed implements [engine.Engine].
func (c *Client) Embed(ctx context.Context, req *engine.EmbeddingRequest) (*engine.Embeddings, error) {
	return unaryCall(ctx, c, call{Embed: req}, req.Extent(), func(m embeddingInfo, bulk []byte) (*engine.Embeddings, error) {
		return toEmbeddings(m, bulk, req)
	})
}

// GenerateImages implements [engine.Engine].
func (c *Client) GenerateImages(ctx context.Context, req *engine.ImageRequest) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) {
		c.progress.begin()
		defer c.progress.end()
		s := engine.NewImageSequence(req)
		c.events(ctx, call{Images: req}, yield, func(conn *clientConn) (event engine.Event, last bool, err error) {
			if event, err = c.imageEvent(ctx, conn, s); err != nil || s.End() != nil {
				return event, false, err
			}
			return event, true, c.endOfReply(ctx, conn, engine.Extent{})
		})
	}
}

// imageEvent returns the next event about images.
func (c *Client) imageEvent(ctx context.Context, conn *clientConn, s *engine.ImageSequence) (engine.Event, error) {
	m, err := c.next(ctx, conn, engine.Extent{})
	if err != nil {
		return nil, err
	}
	event, is := m.(engine.Event)
	if !is {
		return nil, lost(ctx, unexpected(m), true)
	}
	if err := s.Add(event); err != nil {
		return nil, lost(ctx, &protocolError{err}, true)
	}
	event, err = withImage(event, conn.payload)
	if err != nil {
		return nil, lost(ctx, &protocolError{err}, true)
	}
	return event, nil
}

// unaryCall makes a call with one reply, a message of type M. decode converts it
// and the payload before it; its errors are protocol errors.
func unaryCall[M message, T any](ctx context.Context, c *Client, question call, x engine.Extent, decode func(M, []byte) (T, error)) (T, error) {
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
		return none, lost(ctx, unexpected(m), true)
	}
	result, err := decode(answer, conn.payload)
	if err != nil {
		return none, lost(ctx, &protocolError{err}, true)
	}
	return result, nil
}

// begin sends a call and waits until it is accepted.
func (c *Client) begin(ctx context.Context, conn *clientConn, question call) error {
	m, err := conn.ask(ctx, question)
	if err != nil {
		return lost(ctx, err, false)
	}
	if _, is := m.(accepted); !is {
		return lost(ctx, unexpected(m), false)
	}
	arrived(ctx)
	return nil
}

// next returns the next message that is not a heartbeat, or the error that an
// errorReply holds.
func (c *Client) next(ctx context.Context, conn *clientConn, x engine.Extent) (message, error) {
	for {
		m, err := conn.receive(ctx)
		switch {
		case ctx.Err() != nil: // even if a message was buffered
			return nil, engine.AsError(ctx.Err())
		case err != nil:
			return nil, lost(ctx, err, true)
		}
		switch m := m.(type) {
		case heartbeat:
			if err := c.progress.set(m); err != nil {
				return nil, lost(ctx, &protocolError{err}, true)
			}
		case errorReply:
			return nil, failure(ctx, m, x)
		default:
			return m, nil
		}
	}
}

// failure validates and returns the error of a request of extent x.
func failure(ctx context.Context, f errorReply, x engine.Extent) *engine.Error {
	if err := checkError(f.wireError, x); err != nil {
		return lost(ctx, &protocolError{err}, true)
	}
	return f.err()
}

func unexpected(m message) error { return protocolErrorf("unexpected %T", m) }

// connect returns an idle or a new connection.
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
		Conn:           conn,
		encoder:        gob.NewEncoder(conn),
		reader:         bufio.NewReader(conn),
		activity:       &c.activity,
		messageTimeout: c.messageTimeout,
		reservation:    reservation{budget: c.budget},
		small:          make([]byte, smallFrame),
	}, nil
}

// release closes conn when ctx is done. The returned function keeps conn for reuse
// if its call is complete, and otherwise closes it, which cancels the call.
func (c *Client) release(ctx context.Context, conn *clientConn) func() {
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	return func() {
		conn.reservation.release()
		conn.prompt, conn.payload = "", nil
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

// lostError is the error of a connection that was lost during a call.
type lostError struct {
	err     error
	arrived bool // the process had accepted the request
}

func (e *lostError) Error() string { return "connection to the model's process: " + e.err.Error() }
func (e *lostError) Unwrap() error { return e.err }

// lost is the error of a call whose connection failed with err.
func lost(ctx context.Context, err error, arrived bool) *engine.Error {
	if ctx.Err() != nil {
		return engine.AsError(ctx.Err())
	}
	if own := (*engine.Error)(nil); errors.As(err, &own) { // from this side, as of the budget
		return own
	}
	return engine.Errorf(engine.CodeEngineCrashed, "The model's process ended while it worked on this request.").
		Because(&lostError{err: err, arrived: arrived})
}

// unreachable is the error of a failed connect. If this process is out of file
// descriptors, the other one is not to blame.
func unreachable(ctx context.Context, err error) *engine.Error {
	if !exhausted(err) {
		return lost(ctx, err, false)
	}
	e := engine.Errorf(engine.CodeOverloaded, "The server is out of connections; try again later.").Because(err)
	e.RetryAfter = 1
	return e
}

func isProtocolError(err error) bool {
	var b *protocolError
	return errors.As(err, &b)
}

// asLost returns the lostError in err's chain, or nil.
func asLost(err error) *lostError {
	var l *lostError
	if errors.As(err, &l) {
		return l
	}
	return nil
}
