package pace

import (
	"net/http"
	"time"
)

// piece is how many bytes a client has one stall time for.
const piece = 32 << 10

// Writer writes a reply, each piece of which must be read within the stall time.
type Writer struct {
	http.ResponseWriter
	control   *http.ResponseController
	stall     time.Duration
	contended func() bool
	meter     meter
}

// NewWriter returns a writer for HTTP/1 replies, where a deadline without a pending write
// is harmless. contended is as in [NewBody].
func NewWriter(w http.ResponseWriter, stall time.Duration, contended func() bool) *Writer {
	p := &Writer{ResponseWriter: w, control: http.NewResponseController(w), stall: stall, contended: contended}
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

// FlushError sends what was written, which blocks in a stream.
func (w *Writer) FlushError() error {
	w.begin()
	begun := time.Now()
	err := w.control.Flush()
	w.meter.add(0, begun, w.stall)
	return err
}

// begin begins a write. It fails at once for a slow client whose memory others wait for, as
// it does in the end for one that has stalled.
func (w *Writer) begin() {
	w.Renew()
	if w.meter.isSlow(w.stall) && w.contended() {
		_ = w.control.SetWriteDeadline(time.Now())
	}
}

// Renew begins another stall time, also for what net/http writes after the handler has
// returned.
func (w *Writer) Renew() { _ = w.control.SetWriteDeadline(time.Now().Add(w.stall)) }

// Unwrap lets http.ResponseController reach the connection.
func (w *Writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }
