package runner

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"time"
)

// A frame is one message: its length in four bytes, the number of its form, and
// its fields. A server cuts what it sends so that its frames are far below the
// largest that a client takes.
const (
	frameHead = 4
	maxFrame  = 4 << 20
	wholePart = 256 << 10 // about how much of a text one frame has

	// smallFrame is up to where frames are not weighed: what they are made to
	// takes less than a connection.
	smallFrame = 4 << 10

	// frameWeight is for each byte of a frame: a member of a list takes up to 72
	// bytes where its fields have 5.
	frameWeight = 20

	// maxBulk is the most bytes that follow a frame: the vectors or pictures of
	// one request. bulkWeight is for each: what is made of them is a copy.
	maxBulk    = 256 << 20
	bulkWeight = 2

	// maxPrompt is how much of a prompt is told, which is for traces alone.
	maxPrompt = 64 << 20

	// restTimeout is how long something may take to come of which the beginning
	// has: it holds memory of others.
	restTimeout = time.Minute
)

// appendFrame appends the frame of a message.
func appendFrame(b []byte, m message) ([]byte, error) {
	number, known := numberOf[reflect.TypeOf(m)]
	if !known {
		return nil, fmt.Errorf("a %T is no message", m)
	}
	w := &writer{frame: append(b, 0, 0, 0, 0, number)}
	forms[number].write(w, m)
	size := len(w.frame) - len(b) - frameHead
	if size > maxFrame {
		return nil, fmt.Errorf("a %T of %d bytes", m, size)
	}
	binary.BigEndian.PutUint32(w.frame[len(b):], uint32(size))
	return w.frame, nil
}

// parse reads the message of a frame, whose length is not part of it.
func parse(frame []byte) (message, error) {
	if len(frame) == 0 || int(frame[0]) >= len(forms) {
		return nil, fmt.Errorf("a frame of no known form: %.1x", frame)
	}
	r := &reader{frame: frame[1:]}
	m := forms[frame[0]].read(r)
	switch {
	case r.err != nil:
		return nil, fmt.Errorf("%T: %w", m, r.err)
	case len(r.frame) > 0:
		return nil, fmt.Errorf("%T: %w", m, errLong)
	}
	return m, nil
}
