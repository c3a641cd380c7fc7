package template

import (
	"strings"
	"testing"
)

func TestBrokenTemplates(t *testing.T) {
	for _, tt := range []struct{ name, source, want string }{
		{"open output", "{{ x", "not closed"},
		{"open string", "{{ 'x }}", "not closed"},
		{"open comment", "{# x", "not closed"},
		{"open raw", "{% raw %}x", "not closed"},
		{"open loop", "{% for x in y %}", "compile"},
		{"unknown statement", "{% include 'x' %}", "compile"},
		{"deep brackets", "{{ " + strings.Repeat("(", 100_000) + " }}", "deeper than 200"},
		{"too long", strings.Repeat("x", maxTemplate+1), "more than"},
		{"blind", "hello", errUserMissing.Error()},
		{"never renders", "{{ raise_exception('no') }}", errUserMissing.Error()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := New(tt.source, Model{}, testTime); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error is %v, want %q in it", err, tt.want)
			}
		})
	}
}
