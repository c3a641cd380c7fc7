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
	lasting bool // a deadline without a write under way does no harm
}

// NewWriter returns a writer for the reply to r.
func NewWriter(w http.ResponseWriter, r *http.Request, stall time.Duration) *Writer {
	// In HTTP/2 a deadline ends the stream even if nothing is being written.
	p := &Writer{ResponseWriter: w, control: http.NewResponseController(w), stall: stall, lasting: r.ProtoMajor < 2}
	if p.lasting {
		p.begin() // for what net/http writes by itself
	}
	return p
}

// Write writes b in pieces.
func (w *Writer) Write(b []byte) (int, error) {
	written := 0
	for {
		w.begin()
		n, err := w.ResponseWriter.Write(b[written:min(len(b), written+piece)])
		w.end()
		if written += n; err != nil || written >= len(b) {
			return written, err
		}
	}
}

// FlushError sends what was written.
func (w *Writer) FlushError() error {
	w.begin()
	defer w.end()
	return w.control.Flush()
}

// End begins the stall time of what net/http writes once the handler has
// returned.
func (w *Writer) End() {
	if w.lasting {
		w.begin()
	}
}

func (w *Writer) begin() { _ = w.control.SetWriteDeadline(time.Now().Add(w.stall)) }

func (w *Writer) end() {
	if !w.lasting {
		_ = w.control.SetWriteDeadline(time.Time{})
	}
}

// Unwrap lets http.ResponseController reach the connection.
func (w *Writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }
