//go:build llamacpp && cgo

package llamacpp

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/diglot/diglot/engine"
)

const placeSchema = `{"type":"object","properties":{"place":{"type":"string","maxLength":20},"unit":{"enum":["celsius","fahrenheit"]},"days":{"type":"integer","minimum":1,"maximum":9},"details":{"type":"object","properties":{"include_wind":{"type":"boolean"},"include_humidity":{"type":"boolean"}},"required":["include_wind","include_humidity"],"additionalProperties":false}},"required":["place","unit","days","details"],"additionalProperties":false}`

// weatherTools are tools whose calls have much that a grammar forces.
func weatherTools() []engine.Tool {
	return []engine.Tool{
		{Name: "weather_forecast", Description: "The weather at a place.", Parameters: json.RawMessage(placeSchema), Strict: true},
		{Name: "local_time", Description: "The time at a place.", Parameters: json.RawMessage(`{"type":"object","properties":{"place":{"type":"string","maxLength":20}},"required":["place"]}`)},
	}
}

// TestSameRepliesWithDrafts: calls of tools and JSON, of which the grammar forces much,
// are the same with guesses: blocks, arguments, log-probabilities and usage.
func TestSameRepliesWithDrafts(t *testing.T) {
	options := Options{Path: modelFile(t, "qwen2.5-coder-0.5b"), Threads: 1, Context: 1024, Parallel: 1}
	guessing := openModel(t, options)
	options.NoDraft = true
	plain := openModel(t, options)
	for _, tt := range []struct {
		name     string
		question string
		change   func(*engine.Request)
	}{
		{"a required call", "What is the weather in Bergen, for the next three days?", func(r *engine.Request) {
			r.Tools, r.ToolChoice.Mode = weatherTools(), engine.ToolRequired
		}},
		{"a call of one tool", "Hello there.", func(r *engine.Request) {
			r.Tools, r.ToolChoice = weatherTools(), engine.ToolChoice{Mode: engine.ToolRequired, Names: []string{"weather_forecast"}, Single: true}
		}},
		{"a call or text", "What time is it in Lima? Use a tool.", func(r *engine.Request) { r.Tools = weatherTools() }},
		{"a schema", "The weather in Bergen, as JSON.", func(r *engine.Request) {
			r.Format = engine.Format{Kind: engine.FormatSchema, Name: "place", Schema: json.RawMessage(placeSchema)}
			r.Logprobs = new(2)
		}},
		{"JSON", "Two facts about Bergen, as a JSON object.", func(r *engine.Request) { r.Format.Kind = engine.FormatJSON }},
	} {
		req := &engine.Request{
			Model:     plain.Info().Name,
			Messages:  []engine.Message{{Role: engine.RoleUser, Parts: []engine.Part{engine.Text{Text: tt.question}}}},
			Sampling:  engine.Sampling{Temperature: new(0.0), Seed: new(int64(1))},
			MaxTokens: new(80),
		}
		tt.change(req)
		before := guessing.Stats()
		_, want := say(t, chatOver(t, plain), req)
		_, got := say(t, chatOver(t, guessing), req)
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(engine.Block{}, "CallID")); diff != "" {
			t.Errorf("%s (-without guesses +with them)\n%s", tt.name, diff)
		}
		after := guessing.Stats()
		t.Logf("%s: %+v; %d of %d guessed tokens held", tt.name, got.Choices[0].Blocks[0], after.Held-before.Held, after.Drafted-before.Drafted)
		if req.ToolChoice.Mode == engine.ToolRequired && (got.Choices[0].Blocks[0].Kind != engine.BlockToolCall || after.Held == before.Held) {
			t.Errorf("%s: %+v, and %d guessed tokens held", tt.name, got.Choices[0].Blocks[0], after.Held-before.Held)
		}
	}
}
