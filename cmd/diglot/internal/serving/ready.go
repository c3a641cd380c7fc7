package serving

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"
)

// ErrTerminated is the cause of a context that SIGTERM ended.
var ErrTerminated = errors.New("terminated")

// Readiness is the state of /readyz: true from when the models of --load are loaded
// until shutdown.
type Readiness struct{ Loaded, leaving atomic.Bool }

// Is reports whether the server is ready.
func (r *Readiness) Is() bool { return r.Loaded.Load() && !r.leaving.Load() }

// Outlast returns a context that ends drain after ctx, so that load balancers see
// /readyz fail first. After Ctrl-C it ends at once.
func (r *Readiness) Outlast(ctx context.Context, drain time.Duration, log *slog.Logger) (context.Context, context.CancelFunc) {
	later, end := context.WithCancel(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() {
		defer end()
		r.leaving.Store(true)
		if drain == 0 || !errors.Is(context.Cause(ctx), ErrTerminated) {
			return
		}
		log.Info("draining: requests are still accepted while /readyz fails; another signal stops at once", "for", drain)
		select {
		case <-time.After(drain):
		case <-later.Done():
		}
	})
	return later, end
}
