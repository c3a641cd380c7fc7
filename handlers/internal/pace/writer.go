package pace

import (
	"net/http"
	"time"
)

// piece is how many bytes a client may take one stall time for.
const piece = 32 << 10

// Writer writes a reply, each piece of which must be taken in the stall time.
type Writer struct {
	http.ResponseWriter
	control *http.ResponseController
	stall   time.Duration
	crowds  func() bool
	meter   meter
}

// NewWriter returns a writer for a reply over HTTP/1, where a deadline without
// a write under way does no harm. crowds is as in [NewBody].
func NewWriter(w http.ResponseWriter, stall time.Duration, crowds func() bool) *Writer {
	p := &Writer{ResponseWriter: w, control: http.NewResponseController(w), stall: stall, crowds: crowds}
	p.Renew() // for what net/http writes by itself
	return p
}

// Write writes b in pieces.
func (w *Writer) Write(b []byte) (int, error) {
	written := 0
	for {
		w.begin()
		begun := time.Now()
		n, err := w.ResponseWriter.Write(b[written:min(len(b), written+piece)])
		w.meter.add(n, begun, w.stall)
		if written += n; err != nil || written >= len(b) {
			return written, err
		}
	}
}

// FlushError sends what was written, which takes the time of a stream.
func (w *Writer) FlushError() error {
	w.begin()
	begun := time.Now()
	err := w.control.Flush()
	w.meter.add(0, begun, w.stall)
	return err
}

// begin begins a write. That of a client which others wait for without need fails
// at once, as that of one which takes nothing does in the end.
func (w *Writer) begin() {
	w.Renew()
	if w.meter.isUnfair(w.stall) && w.crowds() {
		_ = w.control.SetWriteDeadline(time.Now())
	}
}

// Renew begins another stall time: also that of what net/http writes once the
// handler has returned.
func (w *Writer) Renew() { _ = w.control.SetWriteDeadline(time.Now().Add(w.stall)) }

// Unwrap lets http.ResponseController reach the connection.
func (w *Writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }
