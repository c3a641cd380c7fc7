package template

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ardanlabs/jinja"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/template/bounds"
)

// TestRenderingsTogether has many renderings at once that take much memory: one
// at a time does, and those that take little do not wait for it.
func TestRenderingsTogether(t *testing.T) {
	large, err := compile("{% set a = 'x' * 3000000 %}{{ inside() }}", Model{}, testTime)
	if err != nil {
		t.Fatal(err)
	}
	small, err := compile("{% set a = 'x' * 3000 %}{{ a | length }}", Model{}, testTime)
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

// TestHungryRenderings has many at once that take all they may: what they take
// together is what one may.
func TestHungryRenderings(t *testing.T) {
	for name, source := range map[string]string{
		"Jinja":  "{% set ns = namespace(a='xxxxxxxx') %}{% for i in range(64) %}{% set ns.a = ns.a ~ ns.a %}{% endfor %}{{ ns.a | length }}",
		"macros": "{% macro f(n) %}{{ f(n + 1) }}{% endmacro %}{{ f(0) }}",
		"Go":     `{{ define "x" }}{{ .Prompt }}{{ template "x" . }}{{ end }}{{ if eq .Prompt "boom" }}{{ template "x" . }}{{ end }}{{ .Prompt }}{{ .Response }}`,
	} {
		tpl, err := compile(source, Model{}, testTime)
		if err != nil {
			t.Fatal(err)
		}
		tpl.bounds.Heap = 32 << 20
		start := bounds.HeapSize()
		var peak atomic.Uint64
		ended := make(chan struct{})
		var looker, all sync.WaitGroup
		looker.Go(func() {
			look := time.NewTicker(time.Millisecond)
			defer look.Stop()
			for {
				peak.Store(max(peak.Load(), bounds.HeapSize()))
				select {
				case <-ended:
					return
				case <-look.C:
				}
			}
		})
		for range 16 {
			all.Go(func() {
				_, err := tpl.Render(t.Context(), &engine.Request{Messages: []engine.Message{say("user", "boom")}})
				if e := (*engine.Error)(nil); !errors.As(err, &e) {
					t.Errorf("%s: error %v", name, err)
				}
			})
		}
		all.Wait()
		close(ended)
		looker.Wait()
		if taken := peak.Load() - start; taken > 4*tpl.bounds.Heap {
			t.Errorf("%s: %d MB are taken", name, taken>>20)
		}
	}
}
