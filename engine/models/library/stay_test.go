package library

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestStay has room for one model, which is always in use, and another one asked
// for: requests for the first are answered for as long as it took to load.
func TestStay(t *testing.T) {
	for _, tt := range []struct {
		name       string
		load, stay time.Duration
	}{
		{"a second", time.Second, time.Second},
		{"a while", 20 * time.Second, 20 * time.Second},
		{"long", 10 * time.Minute, longestStay},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, Config{Budget: 2500}, func(t *testing.T, h *house) {
				h.loadsFor(tt.load)
				first := h.async(t.Context(), "a")
				other := h.async(t.Context(), "b")
				time.Sleep(tt.load / 2)
				during := h.async(t.Context(), "a")
				finish := make(chan func(), 1)
				go func() { finish <- h.begin(t, "a") }() // which keeps it in use
				time.Sleep(tt.load - tt.load/2)
				expect(t, "those that came before it was ready are answered", isDone(t, first) && isDone(t, during), true)
				time.Sleep(tt.stay - time.Millisecond)
				expect(t, "one that comes while it stays is answered", isDone(t, h.async(t.Context(), "a")), true)
				time.Sleep(2 * time.Millisecond)
				after := h.async(t.Context(), "a")
				expect(t, "one that comes then is answered", isDone(t, after), false)
				expect(t, "the other one is, while the first has a request", isDone(t, other), false)
				(<-finish)()
				time.Sleep(tt.load)
				expect(t, "the other one is, once the first has none", isDone(t, other), true)
				time.Sleep(tt.load)
				expect(t, "the one that came too late is, by the next load", isDone(t, after), true)
				expect(t, "started", h.started(), "a b a")
			})
		})
	}
}

// TestIdleDoesNotStay has a model go that nobody uses, however new it is.
func TestIdleDoesNotStay(t *testing.T) {
	inBubble(t, Config{Budget: 2500}, func(t *testing.T, h *house) {
		h.loadsFor(time.Minute)
		h.mustAsk(t, "a")
		start := time.Now()
		h.mustAsk(t, "b")
		expect(t, "b is answered after", time.Since(start), time.Minute)
		start = time.Now()
		finish := h.begin(t, "a")
		expect(t, "a is answered after", time.Since(start), time.Minute)
		b := h.async(t.Context(), "b")
		time.Sleep(time.Second)
		finish()
		synctest.Wait()
		time.Sleep(time.Minute)
		expect(t, "b is answered by a load that began with the end of a", isDone(t, b), true)
	})
}

// loadsFor has each load take some time.
func (h *house) loadsFor(d time.Duration) {
	start := h.Engine.config.Start
	h.Engine.config.Start = func(ctx context.Context, l Launch) (Instance, error) {
		select {
		case <-time.After(d):
			return start(ctx, l)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
