package bounds

import (
	"context"
	"sync/atomic"
	"time"
)

// maxWaiting is how many renderings may wait for one that takes much memory. Each
// has made about [LookEvery] bytes.
const maxWaiting = 64

// turnstile lets one rendering of a template at a time take much memory, so that
// the limit of one is a limit for all of them.
type turnstile struct {
	slot     chan struct{}
	waiting  atomic.Int32
	patience time.Duration
}

func newTurnstile() *turnstile {
	return &turnstile{slot: make(chan struct{}, 1), patience: MaxTime / 2}
}

// enter waits for the slot, but not for long: it is no fault of a request that
// others take their time.
func (t *turnstile) enter(ctx context.Context) error {
	defer t.waiting.Add(-1)
	if t.waiting.Add(1) > maxWaiting {
		return ErrCrowded
	}
	patience := time.NewTimer(t.patience)
	defer patience.Stop()
	select {
	case t.slot <- struct{}{}:
		return nil
	case <-patience.C:
		return ErrCrowded
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
