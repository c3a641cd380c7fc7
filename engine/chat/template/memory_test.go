//go:build !race

// What is made is counted to the byte here, and the race detector makes more:
// it keeps the compiler from counting runes in place.

package template

import (
	"sync"
	"testing"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/template/bounds"
)

// TestMemoryOfRendersTogether: what one rendering may take is what all may, with
// what Go has not collected. Each begins when the one before has taken some,
// which it then does not count as its own.
func TestMemoryOfRendersTogether(t *testing.T) {
	const holds = `{% if messages[-1].content == 'boom' %}{% set ns = namespace(a='xxxxxxxx') %}{% for i in range(22) %}{% set ns.a = ns.a ~ ns.a %}{% endfor %}` +
		`{% for i in range(100000) %}{% if i == messages[-1].content %}{{ i }}{% endif %}{% endfor %}{{ ns.a | length }}{% endif %}` +
		`{% for m in messages %}{{ m.content }}{% endfor %}`
	tpl := mustTemplate(t, holds, Model{})
	const limit, renders = 96 << 20, 24
	tpl.bounds.Heap = limit
	before := bounds.HeapSize()
	most := before
	var all sync.WaitGroup
	watch := func(until <-chan time.Time) {
		for tick := time.Tick(time.Millisecond); ; {
			select {
			case <-until:
				return
			case <-tick:
				most = max(most, bounds.HeapSize())
			}
		}
	}
	for range renders {
		all.Go(func() {
			_, _ = tpl.Render(t.Context(), &engine.Request{Messages: []engine.Message{say("user", "boom")}})
		})
		watch(time.After(10 * time.Millisecond))
	}
	over := make(chan time.Time)
	go func() { all.Wait(); close(over) }()
	watch(over)
	if most-before > 5*limit {
		t.Errorf("%d renderings together took %d MB, where each may take %d", renders, (most-before)>>20, limit>>20)
	}
}
