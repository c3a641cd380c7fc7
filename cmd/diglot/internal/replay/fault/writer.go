package fault

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"time"
)

// Writer is a reply whose events come at a pace, and with the faults of its bytes: stalls,
// cuts, rubbish, another status.
type Writer struct {
	http.ResponseWriter
	ctx    context.Context
	pace   time.Duration // between events; 0: as they come
	fault  *Fault
	status int // sent instead of an error's; 0: the error's
	sent   int // status; 0: none
	stream bool
	events int
	bytes  int
	frame  []byte // begun
	waited bool   // the stall is over
}

// NewWriter returns a writer of one reply.
func NewWriter(ctx context.Context, w http.ResponseWriter, pace time.Duration, f *Fault) *Writer {
	out := &Writer{ResponseWriter: w, ctx: ctx, pace: pace, fault: f}
	if f.Status != nil {
		out.status = f.Status.Code
	}
	return out
}

// Unwrap lets http.ResponseController reach the connection.
func (w *Writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader sends the headers. A connection that is cut before the first event has none.
func (w *Writer) WriteHeader(status int) {
	if w.sent != 0 {
		return
	}
	if cut := w.fault.Cut; cut != nil && cut.After == 0 && cut.Bytes == 0 {
		panic(http.ErrAbortHandler) // the one way to end a connection
	}
	if w.status != 0 && status >= http.StatusBadRequest {
		status = w.status
	}
	w.sent = status
	w.stream = strings.HasPrefix(w.Header().Get("Content-Type"), "text/event-stream")
	if !w.stream {
		w.stall()
	}
	if w.fault.Cut != nil || w.fault.Rubbish != nil {
		w.Header().Del("Content-Length")
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write sends the events that are whole, or a part of a whole reply.
func (w *Writer) Write(b []byte) (int, error) {
	if w.sent == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if !w.stream {
		return len(b), w.whole(b)
	}
	w.frame = append(w.frame, b...)
	for {
		frame, rest, ok := cutFrame(w.frame)
		if !ok {
			return len(b), nil
		}
		if err := w.event(frame); err != nil {
			return 0, err
		}
		w.frame = rest
	}
}

// cutFrame cuts the first event, or a comment, which is one line.
func cutFrame(b []byte) (frame, rest []byte, ok bool) {
	end := "\n\n"
	if len(b) > 0 && b[0] == ':' {
		end = "\n"
	}
	i := bytes.Index(b, []byte(end))
	if i < 0 {
		return nil, b, false
	}
	return b[:i+len(end)], b[i+len(end):], true
}

// page is what gateways answer when they should have sent JSON.
const page = "<html><body><h1>502 Bad Gateway</h1></body></html>\n"

// whole sends a part of a reply that is no stream.
func (w *Writer) whole(b []byte) error {
	if w.fault.Rubbish == nil {
		return w.send(b)
	}
	if w.events++; w.events > 1 {
		return nil
	}
	return w.send([]byte(page))
}

// event sends one frame. Comments, which clients skip, do not count.
func (w *Writer) event(frame []byte) error {
	if frame[0] == ':' {
		return w.send(frame)
	}
	if w.pace > 0 && w.events > 0 {
		Wait(w.ctx, w.pace)
	}
	w.stall()
	if cut := w.fault.Cut; cut != nil && cut.Bytes == 0 && cut.After == w.events {
		panic(http.ErrAbortHandler) // as above: net/http ends the connection for it
	}
	if r := w.fault.Rubbish; r != nil && r.After == w.events {
		frame = broken(frame)
	}
	w.events++
	if err := w.send(frame); err != nil {
		return err
	}
	if w.pace > 0 || w.fault.Stall != nil || w.fault.Cut != nil {
		_ = http.NewResponseController(w.ResponseWriter).Flush() // only writers in tests cannot
	}
	return w.ctx.Err()
}

// broken is an event, under its own name, whose data is no JSON.
func broken(frame []byte) []byte {
	name, _, _ := bytes.Cut(frame, []byte("data:"))
	return append(bytes.Clone(name), "data: {\"delta\":\n\n"...)
}

// stall is silent at its place. A client that outlasts a stall without an end loses the
// connection.
func (w *Writer) stall() {
	s := w.fault.Stall
	if s == nil || w.waited || w.stream && w.events < s.After {
		return
	}
	w.waited = true
	Wait(w.ctx, s.For)
	if s.For == 0 || w.ctx.Err() != nil {
		panic(http.ErrAbortHandler) // as above: net/http ends the connection for it
	}
}

// send sends bytes, up to those behind which the connection is cut.
func (w *Writer) send(b []byte) error {
	cut := w.fault.Cut
	if cut == nil || cut.Bytes == 0 || w.bytes+len(b) <= cut.Bytes {
		w.bytes += len(b)
		_, err := w.ResponseWriter.Write(b)
		return err
	}
	_, _ = w.ResponseWriter.Write(b[:cut.Bytes-w.bytes])
	_ = http.NewResponseController(w.ResponseWriter).Flush()
	panic(http.ErrAbortHandler) // as above: net/http ends the connection for it
}
