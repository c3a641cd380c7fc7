package registry

import (
	"context"
	"errors"
	"sync"
	"time"
)

var (
	errStalled = errors.New("the connection stalled") // almost no bytes moved for a while
	errSlow    = errors.New("the request timed out")  // not complete after a fixed time
)

// enough is the number of bytes that must move before a watchdog's timeout. A
// byte now and then is a stall, too.
const enough = 1 << 10

// watchdog cancels a request that stalls, in either direction.
type watchdog struct {
	after  time.Duration
	cancel context.CancelCauseFunc

	mu    sync.Mutex
	timer *time.Timer
	bytes int // since the last reset of the timer
}

// watch returns a context for one request, which ends with errStalled as its
// cause when the request stalls.
func watch(ctx context.Context, after time.Duration) (context.Context, *watchdog) {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &watchdog{after: after, cancel: cancel}
	w.timer = time.AfterFunc(after, func() { cancel(errStalled) })
	return ctx, w
}

// saw resets the timer after enough bytes.
func (w *watchdog) saw(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.bytes += n; w.bytes >= enough {
		w.bytes = 0
		w.timer.Reset(w.after)
	}
}

// wind restarts the timer with another timeout.
func (w *watchdog) wind(after time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.after, w.bytes = after, 0
	w.timer.Reset(after)
}

// stop ends the watch and the context.
func (w *watchdog) stop() {
	w.timer.Stop()
	w.cancel(context.Canceled)
}

// cause returns the cause of ctx if it ended, where net/http only says
// "canceled".
func cause(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
