package main

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"
)

// errTerminated is why the context of a program ends that SIGTERM ends.
var errTerminated = errors.New("terminated")

// readiness says whether requests should come: from when the models are loaded
// that are to be at once, until the server is to end.
type readiness struct{ loaded, leaving atomic.Bool }

func (r *readiness) is() bool { return r.loaded.Load() && !r.leaving.Load() }

// outlast returns a context that ends some time after ctx: who sends requests
// is to see first that no more should come. A person who presses Ctrl-C does
// not wait for that.
func (r *readiness) outlast(ctx context.Context, drain time.Duration, log *slog.Logger) (context.Context, context.CancelFunc) {
	later, end := context.WithCancel(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() {
		defer end()
		r.leaving.Store(true)
		if drain == 0 || !errors.Is(context.Cause(ctx), errTerminated) {
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
