package plainjson_test

import (
	"strings"
	"testing"

	"github.com/diglot/diglot/internal/plainjson"
)

func TestValues(t *testing.T) {
	for _, tt := range []struct {
		text string
		want int // at least as many as there are
	}{
		{``, 1},
		{`1`, 1},
		{`{}`, 2},
		{`{"a":1}`, 2},
		{`{"a":1,"b":[]}`, 4},
		{`[{},{},{}]`, 7},
		{`[0,0,0]`, 4},
		{`"[,{"`, 1},
		{`["\"[,{\\","\\\"",{"[\"":"{"}]`, 5},
		{`["[[[`, 2},
		{`["\`, 2},
		{`"`, 1},
		{"[" + strings.Repeat(`"\\",`, 100) + "0]", 102},
	} {
		if got := plainjson.Values([]byte(tt.text)); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.text, got, tt.want)
		}
	}
}
