package runner

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"
	"unsafe"

	"github.com/diglot/diglot/engine"
)

// clientConn is a connection to a process. What comes over it is not trusted.
type clientConn struct {
	net.Conn
	encoder     *gob.Encoder
	reader      *bufio.Reader
	activity    *activity
	restTimeout time.Duration
	share       share
	small       []byte // for frames that are small
	bulk        []byte // what came behind the last frame
	prompt      string // what came of the prompt
	prompted    bool
	complete    bool // the last call has had its last message
}

// brokenError is what a process sent that none may send.
type brokenError struct{ err error }

func (e *brokenError) Error() string { return "it has sent what makes no sense: " + e.err.Error() }
func (e *brokenError) Unwrap() error { return e.err }

func broken(format string, args ...any) error { return &brokenError{fmt.Errorf(format, args...)} }

// ask sends a call and returns its first message. A process that stands still
// does not even take the call, or say that it has arrived.
func (c *clientConn) ask(ctx context.Context, question call) (message, error) {
	c.complete, c.prompt, c.prompted = false, "", false
	c.activity.wait()
	err := c.encoder.Encode(question)
	c.activity.got()
	if err != nil {
		return nil, err
	}
	return c.receive(ctx)
}

// receive returns the next message; what the one before it held of the budget
// is given back. Its error is a [brokenError] where it is not the connection's.
func (c *clientConn) receive(ctx context.Context) (message, error) {
	c.share.handedOn()
	c.bulk = nil
	for {
		m, err := c.message(ctx)
		switch m := m.(type) {
		case prompt:
			err = c.readPrompt(m.size)
		case bulk:
			err = c.readBulk(ctx, m.size)
		default:
			c.complete = err == nil && isLast(m)
			return m, err
		}
		if err != nil {
			return nil, err
		}
	}
}

func (c *clientConn) message(ctx context.Context) (message, error) {
	frame, err := c.frame(ctx)
	if err != nil {
		return nil, err
	}
	m, err := parse(frame)
	if err != nil {
		return nil, &brokenError{err}
	}
	if c.bulk == nil {
		c.share.settle(held(m, len(frame)))
	}
	return m, nil
}

// held is how many bytes a message of a frame of so many is in memory.
func held(m message, frame int) int64 {
	delta, is := m.(engine.TextDelta)
	if !is {
		return int64(frame)
	}
	n := len(delta.Text)
	for _, token := range delta.Logprobs {
		n += tokenSize + len(token.Token)
		for _, alternative := range token.Top {
			n += tokenSize + len(alternative.Token)
		}
	}
	return int64(n)
}

// tokenSize is what a token with its probability takes beside its text.
const tokenSize = int(unsafe.Sizeof(engine.TokenLogprob{}))

// frame reads the next frame. A small one is overwritten by the next.
func (c *clientConn) frame(ctx context.Context) ([]byte, error) {
	head := c.small[:frameHead]
	if err := c.read(head); err != nil {
		return nil, err
	}
	size := binary.BigEndian.Uint32(head)
	switch {
	case size <= smallFrame:
		return c.small[:size], c.read(c.small[:size])
	case size > maxFrame || c.bulk != nil: // two are not held at a time
		return nil, broken("a frame of %d bytes", size)
	}
	if err := c.share.reserve(ctx, int64(size)*frameWeight); err != nil {
		return nil, err
	}
	frame := make([]byte, size)
	return frame, c.readSoon(func() error { return c.read(frame) })
}

// readBulk reads the bytes behind a frame.
func (c *clientConn) readBulk(ctx context.Context, size int) error {
	if size < 0 || size > maxBulk || c.bulk != nil {
		return broken("%d bytes behind a frame", size)
	}
	if err := c.share.reserve(ctx, int64(size)*bulkWeight); err != nil {
		return err
	}
	c.bulk = make([]byte, size)
	return c.readSoon(func() error { return c.read(c.bulk) })
}

// readPrompt reads a prompt, which is lost where there is no room for it.
func (c *clientConn) readPrompt(size int) error {
	if size < 0 || size > maxPrompt || c.prompted {
		return broken("a prompt of %d bytes", size)
	}
	c.prompted = true
	if !c.share.reservePrompt(int64(size) * bulkWeight) {
		return c.readSoon(func() error {
			_, err := io.CopyN(io.Discard, c.reader, int64(size))
			return err
		})
	}
	text := make([]byte, size)
	err := c.readSoon(func() error { return c.read(text) })
	c.prompt = string(text)
	return err
}

// read fills b. While it does, a request waits for the process.
func (c *clientConn) read(b []byte) error {
	c.activity.wait()
	defer c.activity.got()
	_, err := io.ReadFull(c.reader, b)
	return err
}

// readSoon has something read that must come within a while.
func (c *clientConn) readSoon(read func() error) error {
	if err := c.SetReadDeadline(time.Now().Add(c.restTimeout)); err != nil {
		return err
	}
	err := read()
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return broken("the rest of a message does not come: %w", err)
	}
	return errors.Join(err, c.SetReadDeadline(time.Time{}))
}
