package serving

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"
)

// ErrTerminated is why the context of a program ends that SIGTERM ends.
var ErrTerminated = errors.New("terminated")

// Readiness says whether requests should come: from when the models are loaded
// that are to be at once, until the server is to end.
type Readiness struct{ Loaded, leaving atomic.Bool }

// Is is what /readyz says.
func (r *Readiness) Is() bool { return r.Loaded.Load() && !r.leaving.Load() }

// Outlast returns a context that ends some time after ctx: who sends requests
// is to see first that no more should come. A person who presses Ctrl-C does
// not wait for that.
func (r *Readiness) Outlast(ctx context.Context, drain time.Duration, log *slog.Logger) (context.Context, context.CancelFunc) {
	later, end := context.WithCancel(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() {
		defer end()
		r.leaving.Store(true)
		if drain == 0 || !errors.Is(context.Cause(ctx), ErrTerminated) {
			return
		}
		log.Info("draining: requests are still answered, and /readyz says that no more should come; another signal ends them at once", "for", drain)
		select {
		case <-time.After(drain):
		case <-later.Done():
		}
	})
	return later, end
}
