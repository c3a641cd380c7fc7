package runner

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"time"
)

// A frame is one message: a length of four bytes, the index of its codec and its
// fields. A server splits messages so that frames stay far below maxFrame.
const (
	frameHeader = 4
	maxFrame    = 4 << 20
	maxTextPart = 256 << 10 // of a text that is split

	// Frames up to smallFrame need no reservation: they decode to less than a
	// connection takes.
	smallFrame = 4 << 10

	// frameWeight is the memory per byte of a frame: a list element takes up to 72
	// bytes for 5 in the frame.
	frameWeight = 20

	// maxPayload limits the vectors or images of one request. payloadWeight is the
	// memory per byte: decoding copies them.
	maxPayload    = 256 << 20
	payloadWeight = 2

	// maxPrompt limits prompts, which are sent for traces only.
	maxPrompt = 64 << 20

	// messageTimeout is how long a message may take from its first byte, as it holds
	// a reservation.
	messageTimeout = time.Minute
)

// appendFrame appends the frame of a message.
func appendFrame(b []byte, m message) ([]byte, error) {
	number, known := codecIndex[reflect.TypeOf(m)]
	if !known {
		return nil, fmt.Errorf("%T is not a message", m)
	}
	w := &writer{frame: append(b, 0, 0, 0, 0, number)}
	codecs[number].write(w, m)
	size := len(w.frame) - len(b) - frameHeader
	if size > maxFrame {
		return nil, fmt.Errorf("a %T of %d bytes", m, size)
	}
	binary.BigEndian.PutUint32(w.frame[len(b):], uint32(size))
	return w.frame, nil
}

// parse decodes the message of a frame, without its length.
func parse(frame []byte) (message, error) {
	if len(frame) == 0 || int(frame[0]) >= len(codecs) {
		return nil, fmt.Errorf("unknown type of message: %.1x", frame)
	}
	r := &reader{frame: frame[1:]}
	m := codecs[frame[0]].read(r)
	switch {
	case r.err != nil:
		return nil, fmt.Errorf("%T: %w", m, r.err)
	case len(r.frame) > 0:
		return nil, fmt.Errorf("%T: %w", m, errLong)
	}
	return m, nil
}
