package plainjson_test

import (
	"encoding/json"
	"encoding/json/jsontext"
	"testing"

	"github.com/diglot/diglot/internal/plainjson"
)

// escaped is a value whose own method writes it as for a page of HTML.
type escaped string

func (e escaped) MarshalJSON() ([]byte, error) { return json.Marshal(string(e)) }

func TestMarshal(t *testing.T) {
	const all = "<a href='x'>&amp;</a> \u2028\u2029 \\ \" / é 😀 \x7f"
	const want = `"<a href='x'>&amp;</a> ` + "\u2028\u2029" + ` \\ \" / é 😀 ` + "\x7f" + `"`
	tests := []struct {
		name  string
		value any
		want  string
	}{
		{"string", all, want},
		{"method", escaped(all), want},
		{"raw", json.RawMessage(`"\u003ca href='x'\u003e\u0026amp;\u003c/a\u003e \u2028\u2029 \\ \" \/ \u00e9 \ud83d\ude00 \u007f"`), want},
		{"member", map[string]string{"<": "&"}, `{"<":"&"}`},
		{"control", "\x00\x1f\n", `"\u0000\u001f\n"`},
		{"invalid", "a\xffb", "\"a\ufffdb\""},
		{"order", map[string]int{"b": 1, "a": 2}, `{"a":2,"b":1}`},
		{"nothing", []string(nil), `null`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := plainjson.Marshal(tt.value)
			if err != nil || string(got) != tt.want {
				t.Errorf("Marshal = %s, %v; want %s", got, err, tt.want)
			}
		})
	}
	got, err := plainjson.Marshal([]string{"<"}, jsontext.WithIndent("  "))
	if want := "[\n  \"<\"\n]"; err != nil || string(got) != want {
		t.Errorf("with indent: %s, %v; want %s", got, err, want)
	}
}
