package chat

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/format"
)

// TestIDsOfCalls holds that what a model writes as the id of a call goes on
// only where it tells this call from all others, in every style.
func TestIDsOfCalls(t *testing.T) {
	earlier := []engine.Message{callMessage("", engine.ToolCall{ID: "old", Name: "f", Arguments: "{}"}), resultMessage("old", "f", "r")}
	for _, tt := range []struct {
		name    string
		written []string
		want    []string
	}{
		{"its own", []string{"a1", "b_2-C"}, []string{"a1", "b_2-C"}},
		{"none", []string{"", ""}, []string{"new1", "new2"}},
		{"the same twice", []string{"0", "0", "1"}, []string{"0", "new1", "1"}},
		{"that of an earlier call", []string{"old"}, []string{"new1"}},
		{"what no style allows", []string{"functions.f:0", "a b", "a\n", "é", strings.Repeat("x", 65), "\xff"}, []string{"new1", "new2", "new3", "new4", "new5", "new6"}},
	} {
		made := 0
		tools, _, err := format.NewTools(t.Context(), []engine.Tool{{Name: "f"}})
		if err != nil {
			t.Fatal(err)
		}
		hermes, _ := format.ByName("hermes")
		out := format.NewParser(hermes, format.Options{Tools: tools, IDs: callIDs(earlier),
			NewID: func() string { made++; return "new" + strconv.Itoa(made) }})
		for _, id := range tt.written {
			text, _ := json.Marshal(id)
			out.Read(engine.TokenLogprob{Token: fmt.Appendf(nil, `<tool_call>{"id": %s, "name": "f"}</tool_call>`, text)})
		}
		out.Finish(engine.FinishEndOfTurn)
		var got []string
		for _, event := range out.Events() {
			if start, ok := event.(engine.BlockStart); ok {
				got = append(got, start.CallID)
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}
