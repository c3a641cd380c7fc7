package flagvalue

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHeadersFlag(t *testing.T) {
	var h Headers
	for _, text := range []string{"X-A: 1", "x-a:2", "X-B: a: b"} {
		if err := h.Set(text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	if diff := cmp.Diff(Headers(http.Header{"X-A": {"1", "2"}, "X-B": {"a: b"}}), h); diff != "" || h.String() != "" {
		t.Errorf("shown as %q, -want +got\n%s", h.String(), diff)
	}
	for _, text := range []string{"", "X-A", ": 1", "X A: 1"} {
		if h.Set(text) == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

func TestPatternsFlag(t *testing.T) {
	var p Patterns
	if err := p.Set("^a"); err != nil || len(p) != 1 || !p[0].MatchString("ab") {
		t.Errorf("%v, error %v", p, err)
	}
	if p.Set("(") == nil || len(p) != 1 {
		t.Errorf("%v", p)
	}
}
