package handlers

import (
	"errors"
	"time"
)

const (
	// maxAhead is the most bytes that are kept of what a client sends before
	// its last request is answered.
	maxAhead = 64 << 10

	// beginning is how long it may take between the last byte of a request and
	// the note that it has arrived.
	beginning = 10 * time.Millisecond
)

var errAhead = errors.New("the client sends too much before its request is answered")

// ahead is what a client has sent behind the request that is worked on.
type ahead []byte

// Read implements [net.Conn]. While a request is worked on, net/http reads a
// single byte, to learn that the client leaves, and learns nothing more once
// one has come: a client could leave a blank behind its request, and go, and
// the work for it would go on. So what comes then is kept here, and the
// reading goes on.
func (c *connection) Read(b []byte) (int, error) {
	if len(c.ahead) > 0 {
		if len(b) == 1 && c.begins() {
			return c.watch()
		}
		n := copy(b, c.ahead)
		c.ahead = c.ahead[n:]
		return n, nil
	}
	n, err := c.receive(b)
	if len(b) != 1 || n == 0 || err != nil || c.working.Load() == 0 {
		return n, err
	}
	c.ahead = append(c.ahead, b[0])
	return c.watch()
}

// begins reports whether a request is worked on, or is about to be.
func (c *connection) begins() bool {
	for until := time.Now().Add(beginning); c.working.Load() == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			return false
		}
	}
	return true
}

// watch reads until the client has left, or net/http wants no more.
func (c *connection) watch() (int, error) {
	var piece [4 << 10]byte
	for len(c.ahead) < maxAhead {
		n, err := c.receive(piece[:])
		c.ahead = append(c.ahead, piece[:n]...)
		if err != nil {
			return 0, err
		}
	}
	return 0, errAhead
}

// receive reads from the client.
func (c *connection) receive(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.stir()
	}
	return n, err
}
