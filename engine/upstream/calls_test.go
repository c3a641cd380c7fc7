package upstream

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestExtent(t *testing.T) {
	for _, text := range []string{`{}`, ` {} `, `{"a":"}"}`, `{"a":"\\\""}`, `{"a":"\\\\"}`, `{"a":{"b":[1,{}]}}`, `[]`, `[[],"]"]`, `"a"`, `null`, `{"\u007d":"{["}`} {
		var e jsonExtent
		for i := range len(text) {
			e.add(text[i : i+1])
			valid := json.Valid([]byte(text[:i+1]))
			if object := strings.ContainsAny(text, "{[\""); object && e.complete() != valid || valid && !e.complete() {
				t.Errorf("%s: whole is %v", text[:i+1], e.complete())
			}
		}
	}
}

// TestManyPiecesOfOneCall takes an hour where each piece has all of the
// arguments read again.
func TestManyPiecesOfOneCall(t *testing.T) {
	var c calls
	delta := callDelta{}
	delta.Function.Name, delta.Function.Arguments = "f", `{"a":"`
	c.add(delta)
	delta.Function.Arguments = "xxxxxxxxxx"
	for range 1_000_000 {
		if p := c.add(delta); p.begins {
			t.Fatal("another call has begun")
		}
	}
	delta.Function.Arguments = `"}`
	if p := c.add(delta); p.begins {
		t.Fatal("another call has begun with the last piece")
	}
	if p := c.add(delta); !p.begins {
		t.Error("the second call has not begun")
	}
}

// TestArgumentsWithoutAName has more of them than are kept.
func TestArgumentsWithoutAName(t *testing.T) {
	var c calls
	delta := callDelta{ID: "call_1"}
	delta.Function.Arguments = arguments(strings.Repeat("x", maxArguments/4))
	var last piece
	for range 5 {
		last = c.add(delta)
	}
	if !last.nameless {
		t.Errorf("the last piece is %+v", last)
	}
}
