package handlers

import (
	"errors"
	"time"
)

// maxAhead is the most bytes that are kept of what a client sends before its
// last request is answered; a piece of net/http's reading comes on top.
const maxAhead = 64 << 10

var errAhead = errors.New("the client sends too much before its request is answered")

// Read implements [net.Conn]. While a request is worked on, net/http reads a
// single byte, to learn that the client leaves, and learns nothing more once
// one has come: a client could leave a blank behind its request, and go, and
// the work for it would go on. So such a read does not end before the client
// leaves, or net/http wants to read on; what comes is kept for then.
//
// What net/http reads of a request, with its head or a chunk of its body, may be a
// single byte too, as the last one that a buffer has room for. Such a read has a
// deadline, and that wait has none.
func (c *connection) Read(b []byte) (int, error) {
	switch {
	case c.over:
		return 0, errAhead
	case len(b) == 1 && !c.timed.Load():
		return c.watch(b)
	case len(c.ahead) > 0:
		return c.resume(b), nil
	}
	return c.receive(b)
}

// SetReadDeadline implements [net.Conn].
func (c *connection) SetReadDeadline(t time.Time) error {
	c.timed.Store(!t.IsZero())
	return c.Conn.SetReadDeadline(t)
}

// watch reads until the client has left, or net/http wants no more.
//
// A client may send its next request before it has the reply (RFC 9112, 9.3.2),
// and where it fits into maxAhead it is answered in its turn. Beyond that, what
// is not read cannot be told from a client that has left. Behind a GET the rest
// waits in the network, as such a request does not take long. Behind a POST,
// where clients should wait for the reply by the same section, the request ends
// as one whose client has left, and its connection with the reply.
func (c *connection) watch(b []byte) (int, error) {
	var piece [4 << 10]byte
	for len(c.ahead) < maxAhead {
		n, err := c.receive(piece[:])
		c.ahead = append(c.ahead, piece[:n]...)
		if err != nil {
			return 0, err
		}
	}
	if c.alone.Load() {
		c.over, c.ahead = true, nil
		return 0, errAhead
	}
	return c.resume(b), nil
}

// resume takes of what was kept.
func (c *connection) resume(b []byte) int {
	n := copy(b, c.ahead)
	if c.ahead = c.ahead[n:]; len(c.ahead) == 0 {
		c.ahead = nil // with its memory
	}
	return n
}

// receive reads from the client.
func (c *connection) receive(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.stir()
	}
	return n, err
}
