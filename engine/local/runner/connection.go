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

// clientConn is a connection to a process, which is not trusted.
type clientConn struct {
	net.Conn
	encoder        *gob.Encoder
	reader         *bufio.Reader
	activity       *activity
	messageTimeout time.Duration
	reservation    reservation
	small          []byte // for frames that are small
	payload        []byte // what came behind the last frame
	prompt         string // what came of the prompt
	prompted       bool
	complete       bool // the last call has had its last message
}

// protocolError is the error of a message that violates the protocol.
type protocolError struct{ err error }

func (e *protocolError) Error() string { return "protocol violation: " + e.err.Error() }
func (e *protocolError) Unwrap() error { return e.err }

func protocolErrorf(format string, args ...any) error {
	return &protocolError{fmt.Errorf(format, args...)}
}

// ask sends a call and returns its first message. A hanging process may not even
// read the call.
func (c *clientConn) ask(ctx context.Context, question call) (message, error) {
	c.complete, c.prompt, c.prompted = false, "", false
	c.activity.begin()
	err := c.encoder.Encode(question)
	c.activity.end()
	if err != nil {
		return nil, err
	}
	return c.receive(ctx)
}

// receive returns the next message and releases the reservation of the previous
// one. Its error is a [protocolError] or the connection's.
func (c *clientConn) receive(ctx context.Context) (message, error) {
	c.reservation.releaseMessage()
	c.payload = nil
	for {
		m, err := c.message(ctx)
		switch m := m.(type) {
		case prompt:
			err = c.readPrompt(m.size)
		case payload:
			err = c.readPayload(ctx, m.size)
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
		return nil, &protocolError{err}
	}
	if c.payload == nil {
		c.reservation.shrink(memoryOf(m, len(frame)))
	}
	return m, nil
}

// memoryOf is the size of a message in memory, given that of its frame.
func memoryOf(m message, frame int) int64 {
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

// tokenSize is the size of a token without its text.
const tokenSize = int(unsafe.Sizeof(engine.TokenLogprob{}))

// frame reads the next frame. A small one is overwritten by the next.
func (c *clientConn) frame(ctx context.Context) ([]byte, error) {
	head := c.small[:frameHeader]
	if err := c.read(head); err != nil {
		return nil, err
	}
	size := binary.BigEndian.Uint32(head)
	switch {
	case size <= smallFrame:
		return c.small[:size], c.read(c.small[:size])
	case size > maxFrame || c.payload != nil: // a large frame after a payload would need a second reservation
		return nil, protocolErrorf("a frame of %d bytes", size)
	}
	if err := c.reservation.reserve(ctx, int64(size)*frameWeight); err != nil {
		return nil, err
	}
	frame := make([]byte, size)
	return frame, c.readInTime(func() error { return c.read(frame) })
}

// readPayload reads the bytes after a frame.
func (c *clientConn) readPayload(ctx context.Context, size int) error {
	if size < 0 || size > maxPayload || c.payload != nil {
		return protocolErrorf("a payload of %d bytes", size)
	}
	if err := c.reservation.reserve(ctx, int64(size)*payloadWeight); err != nil {
		return err
	}
	c.payload = make([]byte, size)
	return c.readInTime(func() error { return c.read(c.payload) })
}

// readPrompt reads a prompt, or discards it if the budget is used up.
func (c *clientConn) readPrompt(size int) error {
	if size < 0 || size > maxPrompt || c.prompted {
		return protocolErrorf("a prompt of %d bytes", size)
	}
	c.prompted = true
	if !c.reservation.reservePrompt(int64(size) * payloadWeight) {
		return c.readInTime(func() error {
			_, err := io.CopyN(io.Discard, c.reader, int64(size))
			return err
		})
	}
	text := make([]byte, size)
	err := c.readInTime(func() error { return c.read(text) })
	c.prompt = string(text)
	return err
}

// read fills b. Meanwhile the request counts as waiting for the process.
func (c *clientConn) read(b []byte) error {
	c.activity.begin()
	defer c.activity.end()
	_, err := io.ReadFull(c.reader, b)
	return err
}

// readInTime reads the rest of a message with a deadline.
func (c *clientConn) readInTime(read func() error) error {
	if err := c.SetReadDeadline(time.Now().Add(c.messageTimeout)); err != nil {
		return err
	}
	err := read()
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return protocolErrorf("timeout within a message: %w", err)
	}
	return errors.Join(err, c.SetReadDeadline(time.Time{}))
}
