// Package pace sets deadlines on the progress of clients, for bodies that do not arrive and
// replies that are not read. A whole body or reply may take as long as it needs.
package pace

import (
	"errors"
	"io"
	"net/http"
	"os"
	"sync/atomic"
	"time"
)

// Rate is the minimum progress in bytes per second, averaged over a stall time.
const Rate = 1 << 10

// FairRate is the minimum in bytes per second for a client to keep memory that others wait
// for.
const FairRate = 64 << 10

// ErrStalled is the read error of a body that does not arrive.
var ErrStalled = errors.New("the request body stopped arriving")

// ErrSlow is the read error of a body that arrives slowly while others wait for its memory.
var ErrSlow = errors.New("the request body arrives slowly, and others want its memory")

// meter measures the bytes that a client has sent or read, and the time spent waiting for
// it, in intervals of at least a stall time.
type meter struct {
	begun  time.Time
	bytes  int64
	waited time.Duration
	slow   time.Time // end of the last slow interval
}

// add records bytes that were waited for since begun.
func (m *meter) add(n int, begun time.Time, stall time.Duration) {
	now := time.Now()
	if m.begun.IsZero() {
		m.begun = begun
	}
	m.bytes += int64(n)
	m.waited += now.Sub(begun)
	took := now.Sub(m.begun)
	if took < stall {
		return
	}
	isSlow := m.waited > took/2 && float64(m.bytes) < took.Seconds()*FairRate
	*m = meter{begun: now, slow: m.slow}
	if isSlow {
		m.slow = now
	}
}

// isSlow reports whether the client was slow recently.
func (m *meter) isSlow(stall time.Duration) bool { return time.Since(m.slow) < 2*stall }

// Body is a request body that must make progress from the first read on.
type Body struct {
	body      io.ReadCloser
	control   *http.ResponseController
	stall     time.Duration
	missing   int64 // bytes until the deadline is renewed; 0: no deadline
	arrived   func()
	contended func() bool
	meter     meter
	whole     atomic.Bool
}

// NewBody returns the body of r. A client that sends nothing for the stall time, or less
// than [Rate], has stalled. arrived is called when the body is complete; contended reports
// whether others wait for the request's memory, in which case the body must not be slow.
func NewBody(w http.ResponseWriter, r *http.Request, stall time.Duration, arrived func(), contended func() bool) *Body {
	b := &Body{body: r.Body, control: http.NewResponseController(w), stall: stall, arrived: arrived, contended: contended}
	if r.Body == nil || r.Body == http.NoBody {
		b.end()
	}
	return b
}

func (b *Body) end() {
	b.whole.Store(true)
	b.arrived()
}

// Whole reports whether the body was read to its end.
func (b *Body) Whole() bool { return b.whole.Load() }

func (b *Body) Read(p []byte) (int, error) {
	if b.Whole() {
		return 0, io.EOF
	}
	if b.missing <= 0 {
		b.renew()
	}
	begun := time.Now()
	n, err := b.body.Read(p)
	b.missing -= int64(n)
	b.meter.add(n, begun, b.stall)
	switch {
	case errors.Is(err, io.EOF):
		b.end()
		// From now on net/http watches the connection for a disconnect.
		_ = b.control.SetReadDeadline(time.Time{})
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = ErrStalled
	case err == nil && b.meter.isSlow(b.stall) && b.contended():
		err = ErrSlow
	}
	return n, err
}

// renew begins another stall time. Only writers in tests have no deadlines.
func (b *Body) renew() {
	b.missing = max(1, int64(b.stall.Seconds()*Rate))
	_ = b.control.SetReadDeadline(time.Now().Add(b.stall))
}

// Linger discards input for a short time, so that a client that is still sending gets the
// reply before the connection is reset.
func (b *Body) Linger(limit time.Duration) {
	_ = b.control.SetReadDeadline(time.Now().Add(limit))
	_, _ = io.Copy(io.Discard, b.body)
}

// Close closes the body.
func (b *Body) Close() error {
	if b.body == nil {
		return nil
	}
	return b.body.Close()
}
