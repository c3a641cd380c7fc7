// Package bounds keeps the rendering of a template that nobody trusts within
// limits: of time, of memory, of depth. What an operation makes is counted before
// it is made, on the [Meter] of its rendering. One rendering at a time takes much
// memory, so that the limit of one is a limit for all of them.
package bounds

import (
	"context"
	"sync/atomic"
	"time"
)

// Bounds are those of one template.
type Bounds struct {
	Time  time.Duration
	Heap  uint64       // bytes that a rendering may add to it
	turns *turnstile   // of those that add much
	stuck atomic.Int32 // renders that ran out of time and have not ended
}

// New makes the bounds of a template.
func New() *Bounds { return &Bounds{Time: MaxTime, Heap: MaxHeap, turns: newTurnstile()} }

// Run does the work of one rendering, which asks its Meter before it makes
// something.
func (b *Bounds) Run(ctx context.Context, work func(*Meter) (string, error)) (string, error) {
	if b.stuck.Load() > 0 {
		return "", ErrStuck
	}
	ctx, cancel := context.WithTimeoutCause(ctx, b.Time, ErrSlow)
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
	// The guards end a rendering within one step of a loop. What they cannot
	// reach is one long expression: until that is over the template rests, so
	// that at most the renderings of this moment are lost.
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
	return "", ErrSlow
}

// metered does the work and ends its Meter.
func (b *Bounds) metered(ctx context.Context, work func(*Meter) (string, error)) (string, error) {
	m := b.meter(ctx)
	defer m.end()
	return work(m)
}

// meter begins the Meter of a rendering that ends with ctx.
func (b *Bounds) meter(ctx context.Context) *Meter {
	return &Meter{ctx: ctx, start: HeapSize(), limit: int64(b.Heap), turns: b.turns}
}
