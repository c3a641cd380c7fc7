package bounds

import (
	"context"
	"sync/atomic"
	"time"
)

// maxWaiting limits the renderings that wait for the slot. Each holds about
// [CheckEvery] bytes.
const maxWaiting = 64

// semaphore has one slot, for the rendering that may take much memory.
type semaphore struct {
	slot    chan struct{}
	waiting atomic.Int32
	maxWait time.Duration
}

func newSemaphore() *semaphore {
	return &semaphore{slot: make(chan struct{}, 1), maxWait: MaxTime / 2}
}

// acquire acquires the slot. It gives up after half the time limit with ErrBusy,
// since waiting is not the fault of the request.
func (t *semaphore) acquire(ctx context.Context) error {
	defer t.waiting.Add(-1)
	if t.waiting.Add(1) > maxWaiting {
		return ErrBusy
	}
	timer := time.NewTimer(t.maxWait)
	defer timer.Stop()
	select {
	case t.slot <- struct{}{}:
		return nil
	case <-timer.C:
		return ErrBusy
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
