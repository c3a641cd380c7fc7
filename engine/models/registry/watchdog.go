package registry

import (
	"context"
	"errors"
	"sync"
	"time"
)

var (
	errStalled = errors.New("nothing came any more")         // ends a request on which nothing arrives
	errSlow    = errors.New("the answer took too much time") // ends one that must be done after some time
)

// enough is how many bytes have to arrive within the time of a watchdog. A
// server that sends a byte now and then is as good as silent.
const enough = 1 << 10

// watchdog ends a request whose other side has gone silent, whether it was
// to answer, to send or to take.
type watchdog struct {
	after  time.Duration
	cancel context.CancelCauseFunc

	mu    sync.Mutex
	timer *time.Timer
	bytes int // since the timer was wound
}

// watch returns a context for one request. It ends with errStalled as its
// cause unless bytes are seen.
func watch(ctx context.Context, after time.Duration) (context.Context, *watchdog) {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &watchdog{after: after, cancel: cancel}
	w.timer = time.AfterFunc(after, func() { cancel(errStalled) })
	return ctx, w
}

// saw winds the timer anew once enough has moved.
func (w *watchdog) saw(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.bytes += n; w.bytes >= enough {
		w.bytes = 0
		w.timer.Reset(w.after)
	}
}

// wind starts the time anew, with another length.
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

// cause is why a request of the context failed: net/http says "canceled" of
// whatever ended it.
func cause(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
