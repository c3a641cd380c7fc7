package fault

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Writer is a reply whose events come at a pace, and with the faults of its bytes: stalls,
// cuts, rubbish, another status. Who has written all calls [Writer.Finish].
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
	broke  bool   // the rubbish is sent
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
		w.stall(true)
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

// ends are what may end an event: a blank line, with the line ends of any server.
var ends = [][]byte{[]byte("\n\n"), []byte("\n\r\n"), []byte("\r\r")}

// cutFrame cuts the first event, or a comment, which is one line.
func cutFrame(b []byte) (frame, rest []byte, ok bool) {
	at := -1
	if len(b) > 0 && b[0] == ':' {
		at = bytes.IndexByte(b, '\n') + 1
		return b[:at], b[at:], at > 0
	}
	for _, end := range ends {
		if i := bytes.Index(b, end); i >= 0 && (at < 0 || i+len(end) < at) {
			at = i + len(end)
		}
	}
	if at < 0 {
		return nil, b, false
	}
	return b[:at], b[at:], true
}

// lastEvents are those behind which a client reads no more.
var lastEvents = []string{"message_stop", "response.completed", "response.incomplete", "response.failed", "error"}

// isLast reports whether a stream ends with an event. A fault that it was too short for
// takes its place: behind it no client would notice.
func isLast(frame []byte) bool {
	for line := range bytes.Lines(frame) {
		name, value, _ := strings.Cut(strings.TrimSpace(string(line)), ":")
		value = strings.TrimSpace(value)
		if name == "event" && slices.Contains(lastEvents, value) || name == "data" && value == "[DONE]" {
			return true
		}
	}
	return false
}

// page is what gateways answer when they should have sent JSON.
const page = "<html><body><h1>502 Bad Gateway</h1></body></html>\n"

// whole sends a part of a reply that is no stream.
func (w *Writer) whole(b []byte) error {
	if w.fault.Rubbish == nil {
		return w.send(b)
	}
	if w.broke {
		return nil
	}
	w.broke = true
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
	last := isLast(frame)
	w.stall(last)
	if cut := w.fault.Cut; cut != nil && cut.Bytes == 0 && (w.events >= cut.After || last) {
		w.abort()
	}
	if r := w.fault.Rubbish; r != nil && !w.broke && (w.events >= r.After || last) {
		w.broke, frame = true, broken(frame)
	}
	w.events++
	if err := w.send(frame); err != nil {
		return err
	}
	if w.pace > 0 || w.fault.Stall != nil || w.fault.Cut != nil {
		w.flush()
	}
	return w.ctx.Err()
}

// Finish ends a reply. It sends the rest of one that ends within an event, and does what the
// reply was too short for.
func (w *Writer) Finish() {
	if w.sent == 0 {
		w.WriteHeader(http.StatusOK) // as net/http does
	}
	if rest := w.frame; len(rest) > 0 {
		w.frame = nil
		_ = w.event(rest) // fails only if the client has disconnected
	}
	w.stall(true)
	if w.fault.Rubbish != nil && !w.broke {
		w.broke = true
		text := []byte(page)
		if w.stream {
			text = broken(nil)
		}
		_ = w.send(text) // as above
	}
	if w.fault.Cut != nil {
		w.abort()
	}
}

// abort sends what was written, if anything, and ends the connection.
func (w *Writer) abort() {
	if w.bytes > 0 {
		w.flush()
	}
	panic(http.ErrAbortHandler) // the one way to end a connection: net/http ends it for this
}

func (w *Writer) flush() {
	_ = http.NewResponseController(w.ResponseWriter).Flush() // only writers in tests cannot
}

// broken is an event, under its own name, whose data is no JSON.
func broken(frame []byte) []byte {
	name, _, _ := bytes.Cut(frame, []byte("data:"))
	return append(bytes.Clone(name), "data: {\"delta\":\n\n"...)
}

// stall is silent at its place, or before the end of a shorter reply. A client that outlasts
// a stall without an end loses the connection.
func (w *Writer) stall(last bool) {
	s := w.fault.Stall
	if s == nil || w.waited || !last && w.events < s.After {
		return
	}
	w.waited = true
	Wait(w.ctx, s.For)
	if s.For == 0 || w.ctx.Err() != nil {
		w.abort()
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
	w.bytes = cut.Bytes
	w.abort()
	return nil
}
