package template

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"
)

// maxWaiting is how many renderings may wait for one that takes much memory. Each
// has made about [lookEvery] bytes.
const maxWaiting = 64

// turnstile lets one rendering of a template at a time take much memory, so that
// the limit of one is a limit for all of them.
type turnstile struct {
	slot     chan struct{}
	waiting  atomic.Int32
	patience time.Duration
}

func newTurnstile() *turnstile {
	return &turnstile{slot: make(chan struct{}, 1), patience: maxRenderTime / 2}
}

// enter waits for the slot, but not for long: it is no fault of a request that
// others take their time.
func (t *turnstile) enter(ctx context.Context) error {
	defer t.waiting.Add(-1)
	if t.waiting.Add(1) > maxWaiting {
		return errCrowded
	}
	patience := time.NewTimer(t.patience)
	defer patience.Stop()
	select {
	case t.slot <- struct{}{}:
		return nil
	case <-patience.C:
		return errCrowded
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// begin gives a rendering the slot, once. What others have left behind is
// collected first: it is not what this one takes.
func (r *rendering) begin() error {
	if r.alone {
		return nil
	}
	if err := r.turns.enter(r.ctx); err != nil {
		return err
	}
	r.alone = true
	if heapSize() > uint64(r.limit)/8 {
		runtime.GC()
	}
	r.start = heapSize()
	return nil
}

// end gives the slot back.
func (r *rendering) end() {
	if r.alone {
		r.alone = false
		<-r.turns.slot
	}
}
