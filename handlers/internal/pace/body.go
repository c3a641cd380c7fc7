// Package pace ends what a client lets stand still: a body that does not
// arrive, a reply that is not taken. Deadlines are on progress and not on the
// whole, which may take as long as it needs.
package pace

import (
	"errors"
	"io"
	"net/http"
	"os"
	"sync/atomic"
	"time"
)

// Rate is the fewest bytes a second, on the average of one stall time, that
// count as progress.
const Rate = 1 << 10

// Fair is how many bytes a second a client must send, or take, to keep memory that
// others want, in each stall time.
const Fair = 64 << 10

// ErrStalled is the error of reading a body that does not arrive.
var ErrStalled = errors.New("the request body stopped arriving")

// ErrUnfair is that of one that arrives too slowly for what it takes from others.
var ErrUnfair = errors.New("the request body arrives slowly, and others want its memory")

// meter is what a client has sent or taken, and how long it was waited for, in one
// stretch of a stall time or more after the other.
type meter struct {
	begun  time.Time
	bytes  int64
	waited time.Duration
	unfair time.Time // when the last stretch ended in which it was
}

// add notes bytes that were waited for since begun.
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
	isUnfair := m.waited > took/2 && float64(m.bytes) < took.Seconds()*Fair
	*m = meter{begun: now, unfair: m.unfair}
	if isUnfair {
		m.unfair = now
	}
}

// isUnfair reports whether the client has been so of late.
func (m *meter) isUnfair(stall time.Duration) bool { return time.Since(m.unfair) < 2*stall }

// Body is a request body that must make progress from its first read on.
type Body struct {
	body    io.ReadCloser
	control *http.ResponseController
	stall   time.Duration
	missing int64 // bytes until the deadline is renewed; 0: none is set
	arrived func()
	crowds  func() bool
	meter   meter
	whole   atomic.Bool
}

// NewBody returns the body of r, whose reply is w. A client that sends nothing
// for the stall time, or less than [Rate] during it, has stalled. The call of
// arrived tells that the body is whole; crowds reports whether others want the
// memory of the request, so that it must not be slow.
func NewBody(w http.ResponseWriter, r *http.Request, stall time.Duration, arrived func(), crowds func() bool) *Body {
	b := &Body{body: r.Body, control: http.NewResponseController(w), stall: stall, arrived: arrived, crowds: crowds}
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
		// The connection is watched for the client's leaving from now on.
		_ = b.control.SetReadDeadline(time.Time{})
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = ErrStalled
	case err == nil && b.meter.isUnfair(b.stall) && b.crowds():
		err = ErrUnfair
	}
	return n, err
}

// renew begins another stall time. A writer that has no deadlines is one in a
// test.
func (b *Body) renew() {
	b.missing = max(1, int64(b.stall.Seconds()*Rate))
	_ = b.control.SetReadDeadline(time.Now().Add(b.stall))
}

// Linger reads on for a short time and throws away what comes, so that a client
// which is still sending gets to the reply before the connection is reset, and
// one that sends nothing does not keep it.
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
