package template

import (
	"testing"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/format"
	"github.com/diglot/diglot/engine/chat/prompt"
	"github.com/google/go-cmp/cmp"
)

// testTime is the clock of all renders here.
func testTime() time.Time { return time.Date(2026, 11, 27, 15, 4, 5, 0, time.UTC) }

func mustTemplate(t *testing.T, source string, model Model) *Template {
	t.Helper()
	tpl, err := New(source, model, testTime)
	if err != nil {
		t.Fatal(err)
	}
	return tpl
}

func say(role engine.Role, s string) engine.Message {
	return engine.Message{Role: role, Parts: []engine.Part{engine.Text{Text: s}}}
}

func callMessage(s string, calls ...engine.ToolCall) engine.Message {
	m := engine.Message{Role: engine.RoleAssistant}
	if s != "" {
		m.Parts = append(m.Parts, engine.Text{Text: s})
	}
	for _, c := range calls {
		m.Parts = append(m.Parts, c)
	}
	return m
}

func resultMessage(id, name, s string) engine.Message {
	return engine.Message{Role: engine.RoleTool, Parts: []engine.Part{
		engine.ToolResult{CallID: id, Name: name, Parts: []engine.Part{engine.Text{Text: s}}},
	}}
}

// builtinNames are the formats that have a template of ours.
var builtinNames = []string{"plain", "hermes", "llama3", "mistral", "deepseek", "gemma", "harmony"}

func TestBuiltinTemplates(t *testing.T) {
	think := func(start, end string) string { return start + "…" + end }
	for _, tt := range []struct {
		name    string
		format  string // what is found without being told
		kind    format.SyntaxKind
		think   string
		opening string
	}{
		{name: "plain", format: "hermes"}, // knows no tools, so it gets the fallback
		{name: "hermes", format: "hermes", kind: format.SyntaxJSON, think: think("<think>", "</think>")},
		{name: "llama3", format: "llama3", kind: format.SyntaxJSON},
		{name: "mistral", format: "mistral", kind: format.SyntaxJSON, think: think("[THINK]", "[/THINK]")},
		{name: "deepseek", format: "deepseek", kind: format.SyntaxNamed, think: think("<think>", "</think>")},
		{name: "gemma", format: "gemma", kind: format.SyntaxTagged, think: think("<|channel>thought", "<channel|>")},
		{name: "harmony", format: "harmony", kind: format.SyntaxNamed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tpl := mustTemplate(t, builtinTemplate(tt.name), Model{BOS: "<s>", EOS: "</s>"})
			caps := tpl.Capabilities()
			if got := tpl.Format(); got != tt.format {
				t.Errorf("format is %q, want %q", got, tt.format)
			}
			if got := caps.Syntax.Kind; got != tt.kind {
				t.Errorf("syntax is %q, want %q: %+v", got, tt.kind, caps.Syntax)
			}
			if s := caps.Syntax; tt.think != "" && s.ReasoningStart+"…"+s.ReasoningEnd != tt.think {
				t.Errorf("reasoning is %q … %q, want %s", s.ReasoningStart, s.ReasoningEnd, tt.think)
			}
			if !caps.System || caps.Tools != (tt.kind != "") || caps.ToolCalls != caps.Tools || caps.ShortIDs {
				t.Errorf("capabilities: %+v", caps)
			}
		})
	}
}

func TestRenderBuiltin(t *testing.T) {
	req := &engine.Request{
		Messages: []engine.Message{
			say(engine.RoleSystem, "Be brief."),
			say(engine.RoleUser, "1+2?"),
			callMessage("", engine.ToolCall{ID: "c1", Name: "add", Arguments: `{"b": 2, "a": 1.0}`}),
			resultMessage("c1", "add", "3"),
		},
		Tools: []engine.Tool{{Name: "add", Description: "Adds.", Parameters: []byte(`{"type": "object", "properties": {"b": {}, "a": {}}}`)}},
	}
	tpl := mustTemplate(t, "", Model{Format: "hermes"})
	got, err := tpl.Render(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	want := `<|im_start|>system
Be brief.

These functions may be called:
<tools>
{"type": "function", "function": {"name": "add", "description": "Adds.", "parameters": {"type": "object", "properties": {"b": {}, "a": {}}}}}
</tools>
A call is a JSON object between tags:
<tool_call>
{"name": function name, "arguments": arguments as an object}
</tool_call><|im_end|>
<|im_start|>user
1+2?<|im_end|>
<|im_start|>assistant
<tool_call>
{"name": "add", "arguments": {"b": 2, "a": 1.0}}
</tool_call><|im_end|>
<|im_start|>user
<tool_response>
3
</tool_response><|im_end|>
<|im_start|>assistant
`
	if diff := cmp.Diff(want, prompt.Prompt{Spans: got.Spans}.String()); diff != "" {
		t.Error(diff)
	}
}
