package handlers

import (
	"errors"
	"time"
)

// maxAhead limits the bytes read ahead of the request that is handled. One read of net/http
// may exceed it.
const maxAhead = 64 << 10

var errAhead = errors.New("the client sends too much before its request is answered")

// Read implements [net.Conn]. While a request is handled, net/http reads one byte in the
// background to notice that the client disconnects. Once that byte has arrived it notices
// nothing more: a client could send a blank after its request and disconnect, and the work
// would go on. So this read returns only when the client disconnects or net/http wants to
// read on; what arrives is kept until then.
//
// Other reads of net/http may be one byte long too, such as the last one that a buffer has
// room for. They have a deadline, and the background read has none.
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

// watch reads until the client disconnects or net/http ends the read.
//
// A client may pipeline its next request (RFC 9112, 9.3.2), and what fits into maxAhead is
// answered in turn. Beyond that, unread bytes hide a disconnect. After a GET, which is
// short, the rest waits in the network. After a POST, where the same section asks clients
// to wait for the reply, the request ends as if the client had disconnected, and the
// connection ends with the reply.
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

// resume reads from what was kept.
func (c *connection) resume(b []byte) int {
	n := copy(b, c.ahead)
	if c.ahead = c.ahead[n:]; len(c.ahead) == 0 {
		c.ahead = nil // frees its memory
	}
	return n
}

// receive reads from the network.
func (c *connection) receive(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.stir()
	}
	return n, err
}
