package anthropic

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/handlers/handlerstest"
	"github.com/diglot/diglot/openapi"
)

const (
	user  = `"messages":[{"role":"user","content":"u"}]`
	tools = `"tools":[{"name":"f","input_schema":{}},{"name":"g","type":"custom","input_schema":{}}]`
	call  = `{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"f","input":{"b":1, "a":12345678901234567890}}]}`
)

var (
	hello  = []engine.Message{{Role: engine.RoleUser, Parts: []engine.Part{engine.Text{Text: "u"}}}}
	both   = []engine.Tool{{Name: "f", Parameters: json.RawMessage("{}")}, {Name: "g", Parameters: json.RawMessage("{}")}}
	called = engine.Message{Role: engine.RoleAssistant, Parts: []engine.Part{
		engine.ToolCall{ID: "1", Name: "f", Arguments: `{"b":1, "a":12345678901234567890}`}}}
)

// checkMappings completes each test with a request of one user turn.
func checkMappings(t *testing.T, tests []handlerstest.Mapping) {
	t.Helper()
	for i := range tests {
		tests[i].Body = `{"model":"m","max_tokens":5,` + tests[i].Body + "}"
		complete(&tests[i].Want)
	}
	handlerstest.CheckMappings(t, openapi.Anthropic, "createMessage", bind, tests)
}

func complete(want *engine.Request) {
	want.Model, want.MaxTokens, want.Choices = "m", new(5), 1
	if want.Messages == nil {
		want.Messages = hello
	}
	if want.Reasoning.Mode == engine.ReasoningDefault {
		want.Reasoning.Mode = engine.ReasoningOff
	}
}

func text(role engine.Role, s string) engine.Message {
	return engine.Message{Role: role, Parts: []engine.Part{engine.Text{Text: s}}}
}

func TestTools(t *testing.T) {
	checkMappings(t, []handlerstest.Mapping{
		{Name: "tools: auto by absence", Body: user + "," + tools, Want: engine.Request{Tools: both}},
		{Name: "tools: auto", Body: user + "," + tools + `,"tool_choice":{"type":"auto"}`, Want: engine.Request{Tools: both}},
		{Name: "tools: auto, one call", Body: user + "," + tools + `,"tool_choice":{"type":"auto","disable_parallel_tool_use":true}`,
			Want: engine.Request{Tools: both, ToolChoice: engine.ToolChoice{Single: true}}},
		{Name: "tools: none", Body: user + "," + tools + `,"tool_choice":{"type":"none"}`,
			Want: engine.Request{Tools: both, ToolChoice: engine.ToolChoice{Mode: engine.ToolNone}}},
		{Name: "tools: any", Body: user + "," + tools + `,"tool_choice":{"type":"any","disable_parallel_tool_use":false}`,
			Want: engine.Request{Tools: both, ToolChoice: engine.ToolChoice{Mode: engine.ToolRequired}}},
		{Name: "tools: named", Body: user + "," + tools + `,"tool_choice":{"type":"tool","name":"g","disable_parallel_tool_use":true}`,
			Want: engine.Request{Tools: both, ToolChoice: engine.ToolChoice{Mode: engine.ToolRequired, Names: []string{"g"}, Single: true}}},
		{Name: "tools: any of none", Body: user + `,"tool_choice":{"type":"any"}`, Param: "tool_choice"},
		{Name: "tools: an unknown name", Body: user + "," + tools + `,"tool_choice":{"type":"tool","name":"x"}`, Param: "tool_choice.name"},
		{Name: "tools: a name twice", Body: user + `,"tools":[{"name":"f","input_schema":{}},{"name":"f","input_schema":{}}]`, Param: "tools.1.name"},
		{Name: "tools: a schema stays as it is", Body: user + `,"tools":[{"name":"f","description":"d","strict":true,"input_schema":{"type": "object", "b":1e999, "a":null}}]`,
			Want: engine.Request{Tools: []engine.Tool{{Name: "f", Description: "d", Strict: true, Parameters: json.RawMessage(`{"type": "object", "b":1e999, "a":null}`)}}}},
	})
}

// TestToolChanges checks which tools are offered once messages have changed them.
func TestToolChanges(t *testing.T) {
	change := func(kind, tool string) string { return `{"type":"tool_` + kind + `","tool":{` + tool + `}}` }
	reference := func(name string) string { return `"type":"tool_reference","name":"` + name + `"` }
	system := func(blocks string) string {
		return `"messages":[{"role":"user","content":"u"},{"role":"system","content":[` + blocks + `]}],` + tools
	}
	define := func(name string) string {
		return `"type":"tool_definition","definition":{"name":"` + name + `","description":"new","input_schema":{}}`
	}
	var many []string
	for i := range mostTools - 1 {
		many = append(many, change("addition", define(fmt.Sprint("h", i))))
	}
	newTool := func(name string) engine.Tool {
		return engine.Tool{Name: name, Description: "new", Parameters: json.RawMessage("{}")}
	}
	checkMappings(t, []handlerstest.Mapping{
		{Name: "one goes", Body: system(change("removal", reference("f"))), Want: engine.Request{Tools: both[1:]}},
		{Name: "and comes back", Body: system(change("removal", reference("f")) + "," + change("addition", reference("f"))), Want: engine.Request{Tools: both}},
		{Name: "one that was there", Body: system(change("addition", reference("g"))), Want: engine.Request{Tools: both}},
		{Name: "one that is not known", Body: system(change("addition", reference("x")) + "," + change("removal", reference("y"))), Want: engine.Request{Tools: both}},
		{Name: "all go", Body: system(change("removal", reference("f")) + "," + change("removal", reference("g")))},
		{Name: "a new one", Body: system(change("addition", define("h"))), Want: engine.Request{Tools: append(both[:2:2], newTool("h"))}},
		{Name: "in place of an older", Body: system(change("addition", define("f"))), Want: engine.Request{Tools: []engine.Tool{newTool("f"), both[1]}}},
		{Name: "a new one goes and comes", Body: system(change("addition", define("h")) + "," + change("removal", reference("h")) + "," + change("addition", reference("h"))),
			Want: engine.Request{Tools: append(both[:2:2], newTool("h"))}},
		{Name: "in turns that were summarized", Body: `"messages":[{"role":"assistant","content":[{"type":"compaction","content":"c","tool_changes":[` + change("removal", reference("g")) + `]}]}],` + tools,
			Want: engine.Request{Tools: both[:1], Messages: []engine.Message{text(engine.RoleAssistant, "c")}}},
		{Name: "of the service", Body: system(change("addition", `"type":"tool_definition","definition":{"type":"web_search_20250305","name":"web_search"}`) + "," +
			change("addition", `"type":"mcp_toolset_reference","server_name":"x"`) + "," + change("removal", `"type":"mcp_tool_reference","server_name":"x","name":"f"`)), Want: engine.Request{Tools: both}},
		{Name: "too many", Body: system(strings.Join(many, ",")), Param: fmt.Sprintf("messages.1.content.%d.tool.definition", mostTools-2)},
		{Name: "the choice of one that has gone", Body: system(change("removal", reference("f"))) + `,"tool_choice":{"type":"tool","name":"f"}`, Param: "tool_choice.name"},
	})
}

func TestMessages(t *testing.T) {
	result := func(isError bool, parts ...engine.Part) engine.Request {
		return engine.Request{Messages: []engine.Message{called,
			{Role: engine.RoleTool, Parts: []engine.Part{engine.ToolResult{CallID: "1", Name: "f", Parts: parts, IsError: isError}}}}}
	}
	answer := func(members string) string {
		return `"messages":[` + call + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1"` + members + `}]}]`
	}
	checkMappings(t, []handlerstest.Mapping{
		{Name: "a system prompt", Body: user + `,"system":"s"`,
			Want: engine.Request{Messages: append([]engine.Message{{Role: engine.RoleSystem, Parts: []engine.Part{engine.Text{Text: "s"}}}}, hello...)}},
		{Name: "in blocks", Body: user + `,"system":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}},{"type":"text","text":"b","citations":null}]`,
			Want: engine.Request{Messages: append([]engine.Message{{Role: engine.RoleSystem, Parts: []engine.Part{engine.Text{Text: "a\n\nb"}}}}, hello...)}},
		{Name: "none of it", Body: user + `,"system":""`},
		{Name: "in the middle", Body: `"messages":[{"role":"user","content":"u"},{"role":"system","content":[{"type":"text","text":"s"}]}]`,
			Want: engine.Request{Messages: append(hello[:1:1], engine.Message{Role: engine.RoleSystem, Parts: []engine.Part{engine.Text{Text: "s"}}})}},
		{Name: "instructions that pass", Body: `"messages":[{"role":"user","content":"u"},{"role":"system","content":"a","clear_at":"next_user_message"},{"role":"system","content":"b","clear_at":"never"},{"role":"system","content":"c","clear_at":"next_user_message"},{"role":"assistant","content":"a"},{"role":"user","content":"v"},{"role":"system","content":"d","clear_at":"next_user_message"}]`,
			Want: engine.Request{Messages: append(hello[:1:1], text(engine.RoleSystem, "b"), text(engine.RoleAssistant, "a"), text(engine.RoleUser, "v"), text(engine.RoleSystem, "d"))}},
		{Name: "nothing but instructions", Body: `"messages":[{"role":"system","content":"s"}]`, Param: "messages"},
		{Name: "nothing but blocks without effect", Body: `"messages":[{"role":"assistant","content":[{"type":"redacted_thinking","data":"x"}]}]`, Param: "messages"},

		{Name: "calls without input", Body: `"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"f"},{"type":"tool_use","id":"2","name":"f","input":null,"caller":{"type":"direct"}},{"type":"tool_use","id":"3","name":"f","caller":null,"input":{}}]}]`,
			Want: engine.Request{Messages: []engine.Message{{Role: engine.RoleAssistant, Parts: []engine.Part{
				engine.ToolCall{ID: "1", Name: "f", Arguments: "{}"}, engine.ToolCall{ID: "2", Name: "f", Arguments: "{}"}, engine.ToolCall{ID: "3", Name: "f", Arguments: "{}"}}}}}},
		{Name: "another model went on", Body: `"messages":[{"role":"user","content":"u"},{"role":"assistant","content":[{"type":"fallback","from":{"model":"a"},"to":{"model":"b"},"trigger":null},{"type":"text","text":"a"}]}]`,
			Want: engine.Request{Messages: append(hello[:1:1], text(engine.RoleAssistant, "a"))}},
		{Name: "earlier turns in short", Body: `"messages":[{"role":"assistant","content":[{"type":"compaction","content":"c"},{"type":"compaction","content":null,"encrypted_content":"x"},{"type":"text","text":"a","citations":null}]}]`,
			Want: engine.Request{Messages: []engine.Message{{Role: engine.RoleAssistant, Parts: []engine.Part{engine.Text{Text: "c"}, engine.Text{Text: "a"}}}}}},
		{Name: "a result of text", Body: answer(`,"content":"r"`), Want: result(false, engine.Text{Text: "r"})},
		{Name: "a result of blocks", Body: answer(`,"content":[{"type":"text","text":"r"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]`),
			Want: result(false, engine.Text{Text: "r"}, engine.Image{MediaType: "image/png", Data: []byte{0, 0, 0}, Param: "messages.1.content.0.content.1.source"})},
		{Name: "an image by URL", Body: `"messages":[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"https://a/b"}}]}]`,
			Want: engine.Request{Messages: []engine.Message{{Role: engine.RoleUser, Parts: []engine.Part{engine.Image{URL: "https://a/b", Param: "messages.0.content.0.source"}}}}}},
		{Name: "an image in a file of the server", Body: `"messages":[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"file:///etc/passwd"}}]}]`, Param: "messages.0.content.0.source.url"},
		{Name: "a result of nothing", Body: answer(``), Want: result(false)},
		{Name: "a result of null", Body: answer(`,"content":null,"is_error":null`), Want: result(false)},
		{Name: "a failure", Body: answer(`,"content":"r","is_error":true`), Want: result(true, engine.Text{Text: "r"})},
		{Name: "a result between text", Body: `"messages":[` + call + `,{"role":"user","content":[{"type":"text","text":"a"},{"type":"tool_result","tool_use_id":"toolu_1"},{"type":"text","text":"b"}]}]`,
			Want: engine.Request{Messages: []engine.Message{called,
				{Role: engine.RoleUser, Parts: []engine.Part{engine.Text{Text: "a"}}},
				{Role: engine.RoleTool, Parts: []engine.Part{engine.ToolResult{CallID: "1", Name: "f"}}},
				{Role: engine.RoleUser, Parts: []engine.Part{engine.Text{Text: "b"}}}}}},
		{Name: "a result without a call", Body: `"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"x"}]}]`, Param: "messages.0.content.0.tool_use_id"},
		{Name: "a result by the assistant", Body: `"messages":[` + call + `,{"role":"assistant","content":[{"type":"tool_result","tool_use_id":"toolu_1"}]}]`, Param: "messages.1.content.0"},
		{Name: "a call by the user", Body: `"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"tool_use","id":"1","name":"f","input":{}}]}]`, Param: "messages.0.content.1"},
		{Name: "thinking by the user", Body: `"messages":[{"role":"user","content":[{"type":"thinking","thinking":"t"}]}]`, Param: "messages.0.content.0"},
		{Name: "an image by the system", Body: `"messages":[{"role":"system","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]}]`, Param: "messages.0.content.0"},
		{Name: "an image that is no base64", Body: `"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"!"}}]}]`, Param: "messages.0.content.0.source.data"},
		{Name: "thinking comes back", Body: `"messages":[{"role":"user","content":"u"},{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":""},{"type":"redacted_thinking","data":"x"},{"type":"thinking","thinking":"v"},{"type":"text","text":"a"}]}]`,
			Want: engine.Request{Messages: append(hello[:1:1], engine.Message{Role: engine.RoleAssistant, Parts: []engine.Part{
				engine.ReasoningText{Text: "t"}, engine.ReasoningText{Text: "v"}, engine.Text{Text: "a"}}})}},
	})
}

func TestSettings(t *testing.T) {
	checkMappings(t, []handlerstest.Mapping{
		{Name: "the least", Body: user},

		{Name: "thinking: enabled", Body: user + `,"thinking":{"type":"enabled","budget_tokens":31999}`, Want: engine.Request{Reasoning: engine.Reasoning{Mode: engine.ReasoningOn}}},
		{Name: "thinking: adaptive", Body: user + `,"thinking":{"type":"adaptive","display":"omitted"}`, Want: engine.Request{Reasoning: engine.Reasoning{Mode: engine.ReasoningOn}}},
		{Name: "thinking: between tools", Body: user + `,"thinking":{"type":"between_tools"}`, Want: engine.Request{Reasoning: engine.Reasoning{Mode: engine.ReasoningOn}}},
		{Name: "thinking: disabled", Body: user + `,"thinking":{"type":"disabled"}`},
		{Name: "effort alone does not turn it on", Body: user + `,"output_config":{"effort":"max"}`, Want: engine.Request{Reasoning: engine.Reasoning{Mode: engine.ReasoningOff, Effort: "high"}}},
		{Name: "effort", Body: user + `,"thinking":{"type":"adaptive"},"output_config":{"effort":"low","format":null}`, Want: engine.Request{Reasoning: engine.Reasoning{Mode: engine.ReasoningOn, Effort: "low"}}},

		{Name: "effort from here on", Body: `"messages":[{"role":"user","content":"u"},{"role":"system","output_config":{"effort":"high"}},{"role":"system","output_config":{"effort":"low"}},{"role":"system","output_config":{}}],"output_config":{"effort":"max"}`,
			Want: engine.Request{Reasoning: engine.Reasoning{Mode: engine.ReasoningOff, Effort: "low"}}},

		{Name: "zero is a value", Body: user + `,"temperature":0,"top_p":0,"top_k":0`,
			Want: engine.Request{Sampling: engine.Sampling{Temperature: new(0.0), TopP: new(0.0), TopK: new(0)}}},
		{Name: "null is none", Body: user + `,"temperature":null,"top_k":null,"tools":null,"tool_choice":null,"thinking":null,"system":null,"stop_sequences":null,"output_config":null,"stream":null,"thread":null,"metadata":null`},
		{Name: "stop sequences", Body: user + `,"stop_sequences":["END","STOP"]`, Want: engine.Request{Stop: []string{"END", "STOP"}}},
		{Name: "a schema", Body: user + `,"output_config":{"format":{"type":"json_schema","schema":{"b":1, "a":2}}}`,
			Want: engine.Request{Format: engine.Format{Kind: engine.FormatSchema, Schema: json.RawMessage(`{"b":1, "a":2}`)}}},
	})
}
