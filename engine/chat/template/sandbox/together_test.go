package sandbox

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ardanlabs/jinja"
)

// TestRenderingsTogether has many renderings at once that take much memory: one
// at a time does, and those that take little do not wait for it.
func TestRenderingsTogether(t *testing.T) {
	large, err := compile("{% set a = 'x' * 3000000 %}{{ inside() }}")
	if err != nil {
		t.Fatal(err)
	}
	small, err := compile("{% set a = 'x' * 3000 %}{{ a | length }}")
	if err != nil {
		t.Fatal(err)
	}
	small.bounds = large.bounds
	var now, most atomic.Int32
	inside := jinja.NewCallable("inside", func([]jinja.Value, map[string]jinja.Value) (jinja.Value, error) {
		most.Store(max(most.Load(), now.Add(1)))
		defer now.Add(-1)
		text, err := small.run(t.Context(), map[string]jinja.Value{})
		if text != "3000" {
			t.Errorf("a small one gives %q, %v", text, err)
		}
		return jinja.NewString("done"), nil
	})
	var all sync.WaitGroup
	for range 40 {
		all.Go(func() {
			text, err := large.run(t.Context(), map[string]jinja.Value{"inside": inside})
			if text != "done" {
				t.Errorf("a large one gives %q, %v", text, err)
			}
		})
	}
	all.Wait()
	if most.Load() != 1 {
		t.Errorf("%d at a time", most.Load())
	}
}
