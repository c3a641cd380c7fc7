package template

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/engine"
)

// TestKimiIDs: the template shows ids, and the model knows only its own kind.
func TestKimiIDs(t *testing.T) {
	turns := readTurns([]engine.Message{
		say("user", "u"), callMessage("", engine.ToolCall{ID: "c1", Name: "f"}, engine.ToolCall{ID: "c2", Name: "g"}),
		resultMessage("c2", "g", "two"), resultMessage("c1", "f", "one"), resultMessage("lost", "f", "?"),
		callMessage("", engine.ToolCall{ID: "c1", Name: "f"}), resultMessage("c1", "f", "three"),
	})
	numberIDs(turns)
	var got []string
	for _, turn := range turns {
		for _, call := range turn.calls {
			got = append(got, call.ID)
		}
		if turn.role == engine.RoleTool {
			got = append(got, turn.text+"="+turn.callID)
		}
	}
	want := []string{"functions.f:0", "functions.g:1", "two=functions.g:1", "one=functions.f:0", "?=lost", "functions.f:2", "three=functions.f:2"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
