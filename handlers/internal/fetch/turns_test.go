package fetch

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/diglot/diglot/engine"
)

// TestTurns has more downloads than may run: the others wait, but no longer than their
// requests or the time for images.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFetcher(nil)
		f.client.Transport = silent{}
		e := &Engine{&asked{}, f}
		if err := f.turns.Acquire(t.Context(), maxFetches-1); err != nil {
			t.Fatal(err)
		}
		var requests sync.WaitGroup
		requests.Go(func() { generate(t.Context(), e, request("http://example.com/", "http://example.com/2")) })
		synctest.Wait()
		short, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		if err := generate(short, e, request("http://example.com/")); err == nil || err.Code != engine.CodeDeadline {
			t.Errorf("one that leaves: %v", err)
		}
		requests.Wait()
		if err := f.turns.Acquire(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		err := generate(t.Context(), e, request("http://example.com/"))
		if err == nil || err.Code != engine.CodeOverloaded || err.RetryAfter == 0 || time.Since(start) != maxAll {
			t.Errorf("after %v without a turn: %v", time.Since(start), err)
		}
		f.turns.Release(maxFetches)
		if !f.turns.TryAcquire(maxFetches) {
			t.Error("turns are held for ever")
		}
	})
}
