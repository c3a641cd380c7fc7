package sandbox

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ardanlabs/jinja"
	"github.com/diglot/diglot/engine/chat/template/bounds"
)

func TestLimits(t *testing.T) {
	for _, tt := range []struct{ name, source, want string }{
		{"endless loop", "{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}", bounds.ErrTimeout.Error()},
		{"endless recursion", "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "macros nest deeper than"},
		{"long range", "{{ range(100001) }}", "range has more than"},
		{"range without end", "{{ range(0, 1, 0) }}", "a step other than 0"},
		{"range of text", "{{ range('a') }}", "integers"},
		{"a text that doubles", "{% set ns = namespace(x='0123456789abcdef') %}{% for i in range(40) %}{% set ns.x = ns.x + ns.x %}{% endfor %}", bounds.ErrMemory.Error()},
		{"a list that doubles", "{% set ns = namespace(x=[1]) %}{% for i in range(60) %}{% set ns.x = ns.x + ns.x %}{% endfor %}", bounds.ErrMemory.Error()},
		{"long prompt", "{% for i in range(100) %}{{ 'x' * 1000000 }}{% endfor %}", "bytes, more than"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tpl, err := compile(tt.source)
			if err != nil {
				t.Fatal(err)
			}
			switch tt.want {
			case bounds.ErrTimeout.Error():
				tpl.bounds.Time = 20 * time.Millisecond
			case bounds.ErrMemory.Error():
				tpl.bounds.Heap = 32 << 20
			}
			if _, err := tpl.run(t.Context(), map[string]jinja.Value{}); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error is %v, want %q in it", err, tt.want)
			}
		})
	}
}

func TestRange(t *testing.T) {
	for _, tt := range []struct{ call, want string }{
		{"range(3)", "[0, 1, 2]"},
		{"range(1, 3)", "[1, 2]"},
		{"range(5, 0, -2)", "[5, 3, 1]"},
		{"range(3, 1)", "[]"},
	} {
		tpl, err := compile("{{ " + tt.call + " }}")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := tpl.run(t.Context(), map[string]jinja.Value{}); err != nil || got != tt.want {
			t.Errorf("%s gives %s, %v; want %s", tt.call, got, err, tt.want)
		}
	}
}

// A rendering that ran out of time and has not ended keeps others out, until
// it has.
func TestStuck(t *testing.T) {
	tpl, err := compile("{{ hang() }}")
	if err != nil {
		t.Fatal(err)
	}
	release, ended := make(chan struct{}), make(chan struct{})
	hang := jinja.NewCallable("hang", func([]jinja.Value, map[string]jinja.Value) (jinja.Value, error) {
		<-release
		close(ended)
		return jinja.None(), nil
	})
	tpl.bounds.Time = time.Millisecond
	if _, err := tpl.run(t.Context(), map[string]jinja.Value{"hang": hang}); !errors.Is(err, bounds.ErrTimeout) {
		t.Errorf("a hanging template gives %v, want %v", err, bounds.ErrTimeout)
	}
	tpl.bounds.Time = bounds.MaxTime
	if _, err := tpl.run(t.Context(), map[string]jinja.Value{}); !errors.Is(err, bounds.ErrStuck) {
		t.Errorf("the next rendering gives %v, want %v", err, bounds.ErrStuck)
	}
	close(release)
	<-ended
}
