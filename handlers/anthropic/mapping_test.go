package anthropic

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/openapi"
)

const (
	user  = `"messages":[{"role":"user","content":"u"}]`
	tools = `"tools":[{"name":"f","input_schema":{}},{"name":"g","type":"custom","input_schema":{}}]`
	call  = `{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"f","input":{"b":1, "a":12345678901234567890}}]}`
)

// TestToRequest maps each form that a member can have. The base of want is a
// request of one user turn.
func TestToRequest(t *testing.T) {
	hello := []engine.Message{{Role: engine.RoleUser, Parts: []engine.Part{engine.Text{Text: "u"}}}}
	both := []engine.Tool{{Name: "f", Parameters: json.RawMessage("{}")}, {Name: "g", Parameters: json.RawMessage("{}")}}
	called := engine.Message{Role: engine.RoleAssistant, Parts: []engine.Part{
		engine.ToolCall{ID: "1", Name: "f", Arguments: `{"b":1, "a":12345678901234567890}`}}}
	result := func(isError bool, parts ...engine.Part) engine.Request {
		return engine.Request{Messages: []engine.Message{called,
			{Role: engine.RoleTool, Parts: []engine.Part{engine.ToolResult{CallID: "1", Name: "f", Parts: parts, IsError: isError}}}}}
	}
	answer := func(members string) string {
		return `"messages":[` + call + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1"` + members + `}]}]`
	}
	tests := []struct {
		name, body string
		want       engine.Request
		param      string // of the error; then want is not looked at
	}{
		{name: "the least", body: user},

		{name: "tools: auto by absence", body: user + "," + tools, want: engine.Request{Tools: both}},
		{name: "tools: auto", body: user + "," + tools + `,"tool_choice":{"type":"auto"}`, want: engine.Request{Tools: both}},
		{name: "tools: auto, one call", body: user + "," + tools + `,"tool_choice":{"type":"auto","disable_parallel_tool_use":true}`,
			want: engine.Request{Tools: both, ToolChoice: engine.ToolChoice{Single: true}}},
		{name: "tools: none", body: user + "," + tools + `,"tool_choice":{"type":"none"}`,
			want: engine.Request{Tools: both, ToolChoice: engine.ToolChoice{Mode: engine.ToolNone}}},
		{name: "tools: any", body: user + "," + tools + `,"tool_choice":{"type":"any","disable_parallel_tool_use":false}`,
			want: engine.Request{Tools: both, ToolChoice: engine.ToolChoice{Mode: engine.ToolRequired}}},
		{name: "tools: named", body: user + "," + tools + `,"tool_choice":{"type":"tool","name":"g","disable_parallel_tool_use":true}`,
			want: engine.Request{Tools: both, ToolChoice: engine.ToolChoice{Mode: engine.ToolRequired, Names: []string{"g"}, Single: true}}},
		{name: "tools: any of none", body: user + `,"tool_choice":{"type":"any"}`, param: "tool_choice"},
		{name: "tools: an unknown name", body: user + "," + tools + `,"tool_choice":{"type":"tool","name":"x"}`, param: "tool_choice.name"},
		{name: "tools: a name twice", body: user + `,"tools":[{"name":"f","input_schema":{}},{"name":"f","input_schema":{}}]`, param: "tools.1.name"},
		{name: "tools: a schema stays as it is", body: user + `,"tools":[{"name":"f","description":"d","strict":true,"input_schema":{"type": "object", "b":1e999, "a":null}}]`,
			want: engine.Request{Tools: []engine.Tool{{Name: "f", Description: "d", Strict: true, Parameters: json.RawMessage(`{"type": "object", "b":1e999, "a":null}`)}}}},

		{name: "a system prompt", body: user + `,"system":"s"`,
			want: engine.Request{Messages: append([]engine.Message{{Role: engine.RoleSystem, Parts: []engine.Part{engine.Text{Text: "s"}}}}, hello...)}},
		{name: "in blocks", body: user + `,"system":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}},{"type":"text","text":"b","citations":null}]`,
			want: engine.Request{Messages: append([]engine.Message{{Role: engine.RoleSystem, Parts: []engine.Part{engine.Text{Text: "a\n\nb"}}}}, hello...)}},
		{name: "none of it", body: user + `,"system":""`},
		{name: "in the middle", body: `"messages":[{"role":"user","content":"u"},{"role":"system","content":[{"type":"text","text":"s"}]}]`,
			want: engine.Request{Messages: append(hello[:1:1], engine.Message{Role: engine.RoleSystem, Parts: []engine.Part{engine.Text{Text: "s"}}})}},
		{name: "nothing but instructions", body: `"messages":[{"role":"system","content":"s"}]`, param: "messages"},
		{name: "nothing but blocks without effect", body: `"messages":[{"role":"assistant","content":[{"type":"redacted_thinking","data":"x"}]}]`, param: "messages"},

		{name: "a result of text", body: answer(`,"content":"r"`), want: result(false, engine.Text{Text: "r"})},
		{name: "a result of blocks", body: answer(`,"content":[{"type":"text","text":"r"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]`),
			want: result(false, engine.Text{Text: "r"}, engine.Image{MediaType: "image/png", Data: []byte{0, 0, 0}})},
		{name: "a result of nothing", body: answer(``), want: result(false)},
		{name: "a result of null", body: answer(`,"content":null,"is_error":null`), want: result(false)},
		{name: "a failure", body: answer(`,"content":"r","is_error":true`), want: result(true, engine.Text{Text: "r"})},
		{name: "a result between text", body: `"messages":[` + call + `,{"role":"user","content":[{"type":"text","text":"a"},{"type":"tool_result","tool_use_id":"toolu_1"},{"type":"text","text":"b"}]}]`,
			want: engine.Request{Messages: []engine.Message{called,
				{Role: engine.RoleUser, Parts: []engine.Part{engine.Text{Text: "a"}}},
				{Role: engine.RoleTool, Parts: []engine.Part{engine.ToolResult{CallID: "1", Name: "f"}}},
				{Role: engine.RoleUser, Parts: []engine.Part{engine.Text{Text: "b"}}}}}},
		{name: "a result without a call", body: `"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"x"}]}]`, param: "messages.0.content.0.tool_use_id"},
		{name: "a result by the assistant", body: `"messages":[` + call + `,{"role":"assistant","content":[{"type":"tool_result","tool_use_id":"toolu_1"}]}]`, param: "messages.1.content.0"},
		{name: "a call by the user", body: `"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"tool_use","id":"1","name":"f","input":{}}]}]`, param: "messages.0.content.1"},
		{name: "thinking by the user", body: `"messages":[{"role":"user","content":[{"type":"thinking","thinking":"t"}]}]`, param: "messages.0.content.0"},
		{name: "an image by the system", body: `"messages":[{"role":"system","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]}]`, param: "messages.0.content.0"},
		{name: "an image that is no base64", body: `"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"!"}}]}]`, param: "messages.0.content.0.source.data"},
		{name: "thinking comes back", body: `"messages":[{"role":"user","content":"u"},{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":""},{"type":"redacted_thinking","data":"x"},{"type":"thinking","thinking":"v"},{"type":"text","text":"a"}]}]`,
			want: engine.Request{Messages: append(hello[:1:1], engine.Message{Role: engine.RoleAssistant, Parts: []engine.Part{
				engine.ReasoningText{Text: "t"}, engine.ReasoningText{Text: "v"}, engine.Text{Text: "a"}}})}},

		{name: "thinking: enabled", body: user + `,"thinking":{"type":"enabled","budget_tokens":31999}`, want: engine.Request{Reasoning: engine.Reasoning{Mode: engine.ReasoningOn}}},
		{name: "thinking: adaptive", body: user + `,"thinking":{"type":"adaptive","display":"omitted"}`, want: engine.Request{Reasoning: engine.Reasoning{Mode: engine.ReasoningOn}}},
		{name: "thinking: between tools", body: user + `,"thinking":{"type":"between_tools"}`, want: engine.Request{Reasoning: engine.Reasoning{Mode: engine.ReasoningOn}}},
		{name: "thinking: disabled", body: user + `,"thinking":{"type":"disabled"}`},
		{name: "effort alone does not turn it on", body: user + `,"output_config":{"effort":"max"}`, want: engine.Request{Reasoning: engine.Reasoning{Mode: engine.ReasoningOff, Effort: "high"}}},
		{name: "effort", body: user + `,"thinking":{"type":"adaptive"},"output_config":{"effort":"low","format":null}`, want: engine.Request{Reasoning: engine.Reasoning{Mode: engine.ReasoningOn, Effort: "low"}}},

		{name: "zero is a value", body: user + `,"temperature":0,"top_p":0,"top_k":0`,
			want: engine.Request{Sampling: engine.Sampling{Temperature: new(0.0), TopP: new(0.0), TopK: new(0)}}},
		{name: "null is none", body: user + `,"temperature":null,"top_k":null,"tools":null,"tool_choice":null,"thinking":null,"system":null,"stop_sequences":null,"output_config":null,"stream":null,"thread":null,"metadata":null`},
		{name: "stop sequences", body: user + `,"stop_sequences":["END","STOP"]`, want: engine.Request{Stop: []string{"END", "STOP"}}},
		{name: "a schema", body: user + `,"output_config":{"format":{"type":"json_schema","schema":{"b":1, "a":2}}}`,
			want: engine.Request{Format: engine.Format{Kind: engine.FormatSchema, Schema: json.RawMessage(`{"b":1, "a":2}`)}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := request(t, `{"model":"m","max_tokens":5,`+tt.body+`}`)
			if coded := (*engine.Error)(nil); tt.param != "" {
				if !errors.As(err, &coded) || coded.Code != engine.CodeInvalidArgument || coded.Param != tt.param {
					t.Errorf("error %v, want one at %s", err, tt.param)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := tt.want
			want.Model, want.MaxTokens, want.Choices = "m", new(5), 1
			if want.Messages == nil {
				want.Messages = hello
			}
			if want.Reasoning.Mode == engine.ReasoningDefault {
				want.Reasoning.Mode = engine.ReasoningOff
			}
			if diff := cmp.Diff(&want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// request is what becomes of a body that fits the document.
func request(t *testing.T, body string) (*engine.Request, error) {
	t.Helper()
	document, err := openapi.Anthropic()
	if err != nil {
		t.Fatal(err)
	}
	operation, _ := document.Operation("createMessage")
	checked, v := operation.Check([]byte(body))
	if v != nil {
		t.Fatal(v)
	}
	return bind(checked.Body)
}
