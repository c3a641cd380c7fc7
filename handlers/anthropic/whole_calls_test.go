package anthropic

import (
	"testing"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/handlers/handlerstest"
)

// TestWholeCalls has models that end with a call, some with invalid input.
func TestWholeCalls(t *testing.T) {
	for _, tt := range []struct {
		name   string
		pieces []string
		reason engine.FinishReason
		fails  bool
	}{
		{"an object", []string{`{"a"`, `:1}`}, engine.FinishToolCalls, false},
		{"an object with blanks", []string{" {} \n"}, engine.FinishToolCalls, false},
		{"names twice", []string{`{"a":1,"a":2}`}, engine.FinishToolCalls, false},
		{"nothing", nil, engine.FinishToolCalls, false},
		{"half", []string{`{"command":"rm -r /tmp/x`}, engine.FinishToolCalls, true},
		{"half, after a member", []string{`{"a":1,`}, engine.FinishToolCalls, true},
		{"no JSON", []string{"a=1"}, engine.FinishToolCalls, true},
		{"a list", []string{"[1]"}, engine.FinishToolCalls, true},
		{"more than an object", []string{"{}{}"}, engine.FinishToolCalls, true},
		{"cut by the limit", []string{`{"a":1,`}, engine.FinishMaxTokens, false},
		{"cut before it", nil, engine.FinishMaxTokens, false},
		{"cut behind it", []string{`{"a":1}`}, engine.FinishMaxTokens, false},
		{"cut in a word", []string{`{"a":tru`}, engine.FinishMaxTokens, false},
		{"cut in a number", []string{`{"a":-`}, engine.FinishMaxTokens, false},
		{"cut in an escape", []string{`{"a":"\ud83d\u`}, engine.FinishMaxTokens, false},
		{"cut in a character", []string{`{"a":"\ud83d`}, engine.FinishMaxTokens, false},
		{"cut, and no object", []string{`1`}, engine.FinishMaxTokens, true},
		{"cut, and no object so far", []string{`[{`}, engine.FinishMaxTokens, true},
		{"cut, and no JSON", []string{`{a`}, engine.FinishMaxTokens, true},
		{"cut, and more than an object", []string{`{}{`}, engine.FinishMaxTokens, true},
		{"a stop string, and no object", []string{`1`}, engine.FinishStopSequence, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			events := []engine.Event{engine.Start{}, engine.BlockStart{Kind: engine.BlockToolCall, CallID: "1", Name: "f"}}
			for _, piece := range tt.pieces {
				events = append(events, engine.ToolCallDelta{Arguments: piece})
			}
			events = append(events, engine.BlockStop{},
				engine.BlockStart{Index: 1, Kind: engine.BlockToolCall, CallID: "2", Name: "g"}, engine.ToolCallDelta{Index: 1, Arguments: "{}"}, engine.BlockStop{Index: 1},
				engine.Finish{Reason: tt.reason}, engine.Done{})
			e := &handlerstest.Engine{Events: events}
			_, err := engine.Collect(wholeCalls(e.Generate(t.Context(), &engine.Request{})))
			if fails := err != nil; fails != tt.fails {
				t.Errorf("error %v", err)
			}
		})
	}
}
