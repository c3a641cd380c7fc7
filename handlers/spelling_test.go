package handlers_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/handlers"
	"github.com/diglot/diglot/handlers/handlerstest"
)

// markup has what Go escapes in JSON for pages of HTML and for JavaScript,
// and what some clients take for the end of a line.
const markup = "<a href='x'>&amp;</a>\u2028\u2029\u0085é😀"

// spelled is markup as a client may spell it.
const spelled = `\u003ca href='x'\u003e\u0026amp;\u003c/a\u003e\u2028\u2029\u0085\u00e9\ud83d\ude00`

// TestSpelling requests texts, names, calls and errors with such characters of every
// operation. Whole replies hold them as they are, and streams escape only line separators;
// the contract checks the rest.
func TestSpelling(t *testing.T) {
	call := []engine.Event{
		engine.Start{PromptTokens: 3, Prompt: markup},
		engine.BlockStart{Kind: engine.BlockReasoning},
		engine.ReasoningDelta{Text: markup},
		engine.BlockStop{},
		engine.BlockStart{Index: 1, Kind: engine.BlockText},
		engine.TextDelta{Index: 1, Text: markup},
		engine.BlockStop{Index: 1},
		engine.BlockStart{Index: 2, Kind: engine.BlockToolCall, CallID: "1", Name: "f"},
		engine.ToolCallDelta{Index: 2, Arguments: `{"a":"` + markup + `"}`},
		engine.BlockStop{Index: 2},
		engine.Finish{Reason: engine.FinishToolCalls},
		engine.Done{Usage: engine.Usage{PromptTokens: 3, CompletionTokens: 1}},
	}
	var trace bytes.Buffer
	h := newHandler(t, handlers.Config{Engine: &handlerstest.Engine{Name: markup, Events: call}, Trace: &trace})
	model := `{"model":"` + spelled + `"`
	conversation := model + `,"messages":[{"role":"user","content":"` + spelled + `"}],"max_tokens":8`
	items := model + `,"input":"` + spelled + `","instructions":"` + spelled + `","metadata":{"` + spelled + `":"` + spelled + `"},
		"tools":[{"type":"function","name":"f","description":"` + spelled + `","parameters":{"type":"object","title":"` + spelled + `"}}]`
	tests := []struct{ name, path, body string }{
		{"chat", "/v1/chat/completions", conversation},
		{"completions", "/v1/completions", model + `,"prompt":"` + spelled + `"`},
		{"messages", "/v1/messages", conversation},
		{"responses", "/v1/responses", items},
		{"no such model", "/v1/chat/completions", `{"model":"no ` + spelled + `","messages":[{"role":"user","content":"u"}]`},
		{"a bad value", "/v1/messages", conversation + `,"tool_choice":{"type":"tool","name":"f"},"tools":[{"name":"f","input_schema":{}},{"name":"f","input_schema":{}}]`},
		{"a bad place", "/v1/messages", conversation + `,"thinking":{"type":"` + spelled + `"}`},
		{"embeddings", "/v1/embeddings", model + `,"input":"` + spelled + `"`},
	}
	for _, tt := range tests {
		for _, end := range []string{"}", `,"stream":true}`} {
			t.Run(tt.name+end, func(t *testing.T) {
				w := post(t, h, tt.path, []byte(tt.body+end))
				want := markup
				if strings.HasPrefix(w.Header().Get("Content-Type"), "text/event-stream") {
					want = `<a href='x'>&amp;</a>\u2028\u2029\u0085é😀`
				} else if w.Code >= 400 {
					return // the contract holds errors to the spelling
				}
				if !strings.Contains(w.Body.String(), want) {
					t.Errorf("status %d without %s:\n%s", w.Code, want, w.Body)
				}
			})
		}
	}
	for _, version := range []string{"", "2023-06-01"} {
		if w := ask(t, h, "GET", "/v1/models", nil, "Anthropic-Version", version); !strings.Contains(w.Body.String(), markup) {
			t.Errorf("models, version %q: %s", version, w.Body)
		}
	}
	if strings.Count(trace.String(), markup) < 8 || strings.Contains(trace.String(), `\u00`) || strings.Contains(trace.String(), `\u20`) {
		t.Errorf("trace: %.2000s", trace.String())
	}
}
