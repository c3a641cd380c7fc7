package chat

import (
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/engine"
)

// TestReasoningWithoutEffect holds that what a client says of reasoning is
// named where the model's template can do nothing with it.
func TestReasoningWithoutEffect(t *testing.T) {
	named := []string{"reasoning_effort"}
	for _, tt := range []struct {
		name, template string
		reasoning      engine.Reasoning
		want           []string
	}{
		{"nothing said", anyTurn, engine.Reasoning{}, nil},
		{"thinking of a model that does not think", anyTurn, engine.Reasoning{Mode: engine.ReasoningOn}, named},
		{"a level of it", anyTurn, engine.Reasoning{Mode: engine.ReasoningOn, Effort: "high"}, named},
		{"none of it", anyTurn, engine.Reasoning{Mode: engine.ReasoningOff}, nil},
		{"thinking", thinker, engine.Reasoning{Mode: engine.ReasoningOn}, nil},
		{"a level of thinking", thinker, engine.Reasoning{Mode: engine.ReasoningOn, Effort: "low"}, nil},
		{"a level without thinking", thinker, engine.Reasoning{Mode: engine.ReasoningOff, Effort: "low"}, named},
	} {
		m := &fakeModel{info: Info{Name: "m", Context: 100, Template: tt.template}, pieces: []string{"x"}, end: EndOfTurn}
		e, err := New(m, slog.New(slog.DiscardHandler), time.Now)
		if err != nil {
			t.Fatal(err)
		}
		req := &engine.Request{Model: "m", Reasoning: tt.reasoning, Messages: []engine.Message{say("user", "u")}}
		for event, err := range e.Generate(t.Context(), req) {
			if err != nil {
				t.Fatalf("%s: %v", tt.name, err)
			}
			if start, ok := event.(engine.Start); ok {
				if diff := cmp.Diff(tt.want, start.Ignored); diff != "" {
					t.Errorf("%s (-want +got):\n%s", tt.name, diff)
				}
			}
		}
	}
}
