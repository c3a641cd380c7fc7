package plainjson_test

import (
	"encoding/json"
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

// FuzzValues holds that what is JSON never has more values than were counted.
func FuzzValues(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"\\\"b":null}],"c":""}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var v any
		if json.Unmarshal(text, &v) == nil && plainjson.Values(text) < count(v) {
			t.Errorf("%q has %d values, not %d", text, count(v), plainjson.Values(text))
		}
	})
}

func count(v any) int {
	n := 1
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			n += count(e)
		}
	case map[string]any:
		for _, e := range v {
			n += count(e)
		}
	}
	return n
}
