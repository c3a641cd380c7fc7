// Package bounds limits the time, memory and depth of rendering untrusted
// templates. Allocations are charged to the [Meter] of the rendering beforehand.
// Only one rendering of a template at a time may take much memory, so the limit
// holds for all of them together.
package bounds

import (
	"context"
	"sync/atomic"
	"time"
)

// Bounds are the limits of one template.
type Bounds struct {
	Time  time.Duration
	Heap  uint64       // bytes that a rendering may add to the heap
	turns *semaphore   // of large renderings
	stuck atomic.Int32 // renderings that timed out and still run
}

// New returns the default limits.
func New() *Bounds { return &Bounds{Time: MaxTime, Heap: MaxHeap, turns: newSemaphore()} }

// Run executes one rendering, which charges its Meter before each allocation.
func (b *Bounds) Run(ctx context.Context, work func(*Meter) (string, error)) (string, error) {
	if b.stuck.Load() > 0 {
		return "", ErrStuck
	}
	ctx, cancel := context.WithTimeoutCause(ctx, b.Time, ErrTimeout)
	defer cancel()
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	type result struct {
		text string
		err  error
	}
	done := make(chan result, 1)
	go func() {
		text, err := b.metered(ctx, work)
		done <- result{text, err}
	}()
	// The guards end a rendering at the next loop iteration, but not within one
	// long expression. While one runs past the time limit, new renderings of the
	// template fail at once, so goroutines do not pile up.
	slow := time.NewTimer(b.Time)
	defer slow.Stop()
	select {
	case res := <-done:
		return res.text, res.err
	case <-slow.C:
	}
	b.stuck.Add(1)
	go func() {
		<-done
		b.stuck.Add(-1)
	}()
	return "", ErrTimeout
}

// metered runs work with a Meter.
func (b *Bounds) metered(ctx context.Context, work func(*Meter) (string, error)) (string, error) {
	m := b.meter(ctx)
	defer m.end()
	return work(m)
}

// meter returns the Meter of a new rendering.
func (b *Bounds) meter(ctx context.Context) *Meter {
	return &Meter{ctx: ctx, start: HeapSize(), limit: int64(b.Heap), turns: b.turns}
}
