package openai

import (
	"encoding/json"
	"testing"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/handlers/handlerstest"
	"github.com/diglot/diglot/openapi"
)

const (
	user  = `"messages":[{"role":"user","content":"u"}]`
	tools = `"tools":[{"type":"function","function":{"name":"f"}},{"type":"function","function":{"name":"g"}}]`
	call  = `{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"f","arguments":"{\"a\": <1>"}}]}`
)

var (
	hello  = []engine.Message{{Role: engine.RoleUser, Parts: []engine.Part{engine.Text{Text: "u"}}}}
	both   = []engine.Tool{{Name: "f"}, {Name: "g"}}
	called = engine.ToolCall{ID: "1", Name: "f", Arguments: `{"a": <1>`}
)

// checkMappings completes each test with a request of one user turn.
func checkMappings(t *testing.T, tests []handlerstest.Mapping) {
	t.Helper()
	for i := range tests {
		tests[i].Body = `{"model":"m",` + tests[i].Body + "}"
		complete(&tests[i].Want)
	}
	handlerstest.CheckMappings(t, openapi.OpenAI, "createChatCompletion", bind, tests)
}

func complete(want *engine.Request) {
	want.Model, want.Choices = "m", max(want.Choices, 1)
	if want.Messages == nil {
		want.Messages = hello
	}
}

func TestTools(t *testing.T) {
	checkMappings(t, []handlerstest.Mapping{
		{Name: "tools: auto by absence", Body: user + "," + tools, Want: engine.Request{Tools: both}},
		{Name: "tools: auto", Body: user + "," + tools + `,"tool_choice":"auto"`, Want: engine.Request{Tools: both}},
		{Name: "tools: none", Body: user + "," + tools + `,"tool_choice":"none"`,
			Want: engine.Request{Tools: both, ToolChoice: engine.ToolChoice{Mode: engine.ToolNone}}},
		{Name: "tools: required", Body: user + "," + tools + `,"tool_choice":"required"`,
			Want: engine.Request{Tools: both, ToolChoice: engine.ToolChoice{Mode: engine.ToolRequired}}},
		{Name: "tools: named", Body: user + "," + tools + `,"tool_choice":{"type":"function","function":{"name":"g"}}`,
			Want: engine.Request{Tools: both, ToolChoice: engine.ToolChoice{Mode: engine.ToolRequired, Names: []string{"g"}, Single: true}}},
		{Name: "tools: allowed", Body: user + "," + tools + `,"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"function","function":{"name":"g"}}]}}`,
			Want: engine.Request{Tools: both, ToolChoice: engine.ToolChoice{Names: []string{"g"}}}},
		{Name: "tools: one of the allowed", Body: user + "," + tools + `,"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[{"type":"function","function":{"name":"g"}}]}}`,
			Want: engine.Request{Tools: both, ToolChoice: engine.ToolChoice{Mode: engine.ToolRequired, Names: []string{"g"}}}},
		{Name: "tools: one call", Body: user + "," + tools + `,"tool_choice":"required","parallel_tool_calls":false`,
			Want: engine.Request{Tools: both, ToolChoice: engine.ToolChoice{Mode: engine.ToolRequired, Single: true}}},
		{Name: "tools: required of none", Body: user + `,"tool_choice":"required"`, Param: "tool_choice"},
		{Name: "tools: an unknown name", Body: user + "," + tools + `,"tool_choice":{"type":"function","function":{"name":"x"}}`, Param: "tool_choice"},
		{Name: "tools: a name twice", Body: user + `,"tools":[{"type":"function","function":{"name":"f"}},{"type":"function","function":{"name":"f"}}]`,
			Param: "tools[1].function.name"},
		{Name: "tools: a schema stays as it is", Body: user + `,"tools":[{"type":"function","function":{"name":"f","description":"d","strict":true,"parameters":{"type": "object", "b":1e999, "a":null}}}]`,
			Want: engine.Request{Tools: []engine.Tool{{Name: "f", Description: "d", Strict: true, Parameters: json.RawMessage(`{"type": "object", "b":1e999, "a":null}`)}}}},
	})
}

func TestMessages(t *testing.T) {
	checkMappings(t, []handlerstest.Mapping{
		{Name: "instructions anywhere", Body: `"messages":[{"role":"user","content":"u"},{"role":"system","content":"s"},{"role":"developer","content":[{"type":"text","text":"d"}],"name":"n"}]`,
			Want: engine.Request{Messages: []engine.Message{hello[0],
				{Role: engine.RoleSystem, Parts: []engine.Part{engine.Text{Text: "s"}}},
				{Role: engine.RoleDeveloper, Name: "n", Parts: []engine.Part{engine.Text{Text: "d"}}}}}},
		{Name: "a call and its result", Body: `"messages":[` + call + `,{"role":"tool","tool_call_id":"call_1","content":[{"type":"text","text":"r"}]}]`,
			Want: engine.Request{Messages: []engine.Message{
				{Role: engine.RoleAssistant, Parts: []engine.Part{called}},
				{Role: engine.RoleTool, Parts: []engine.Part{engine.ToolResult{CallID: "1", Name: "f", Parts: []engine.Part{engine.Text{Text: "r"}}}}}}}},
		{Name: "a result without a call", Body: `"messages":[{"role":"tool","tool_call_id":"call_1","content":"r"}]`, Param: "messages[0].tool_call_id"},
		{Name: "a result before its call", Body: `"messages":[{"role":"tool","tool_call_id":"call_1","content":"r"},` + call + `]`, Param: "messages[0].tool_call_id"},
		{Name: "empty text beside a call", Body: `"messages":[{"role":"assistant","content":"","tool_calls":[{"id":"call_1","type":"function","function":{"name":"f","arguments":"{\"a\": <1>"}}]}]`,
			Want: engine.Request{Messages: []engine.Message{{Role: engine.RoleAssistant, Parts: []engine.Part{called}}}}},
		{Name: "an empty answer", Body: `"messages":[{"role":"assistant","content":""}]`,
			Want: engine.Request{Messages: []engine.Message{{Role: engine.RoleAssistant, Parts: []engine.Part{engine.Text{}}}}}},
		{Name: "an answer of nothing", Body: `"messages":[{"role":"assistant","content":null}]`,
			Want: engine.Request{Messages: []engine.Message{{Role: engine.RoleAssistant, Parts: []engine.Part{engine.Text{}}}}}},
		{Name: "an answer as the vendor gives it", Body: `"messages":[{"role":"assistant","content":"a","refusal":null,"annotations":[{"type":"url_citation"}],"audio":null,"function_call":null,"tool_calls":null}]`,
			Want: engine.Request{Messages: []engine.Message{{Role: engine.RoleAssistant, Parts: []engine.Part{engine.Text{Text: "a"}}}}}},
		{Name: "calls without arguments", Body: `"messages":[{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"f"}},{"id":"2","type":null,"function":{"name":"f","arguments":null}},{"id":"3","type":"function","function":{"name":"f","arguments":" "}}]}]`,
			Want: engine.Request{Messages: []engine.Message{{Role: engine.RoleAssistant, Parts: []engine.Part{
				engine.ToolCall{ID: "1", Name: "f", Arguments: "{}"}, engine.ToolCall{ID: "2", Name: "f", Arguments: "{}"}, engine.ToolCall{ID: "3", Name: "f", Arguments: "{}"}}}}}},
		{Name: "a function without arguments, a result of nothing", Body: `"messages":[{"role":"assistant","function_call":{"name":"f"}},{"role":"function","name":"f"}]`,
			Want: engine.Request{Messages: []engine.Message{
				{Role: engine.RoleAssistant, Parts: []engine.Part{engine.ToolCall{ID: "function0", Name: "f", Arguments: "{}"}}},
				{Role: engine.RoleTool, Parts: []engine.Part{engine.ToolResult{CallID: "function0", Name: "f", Parts: []engine.Part{engine.Text{}}}}}}}},
		{Name: "a result of nothing", Body: `"messages":[` + call + `,{"role":"tool","tool_call_id":"call_1"},{"role":"tool","tool_call_id":"call_1","content":null}]`,
			Want: engine.Request{Messages: []engine.Message{
				{Role: engine.RoleAssistant, Parts: []engine.Part{called}},
				{Role: engine.RoleTool, Parts: []engine.Part{engine.ToolResult{CallID: "1", Name: "f", Parts: []engine.Part{engine.Text{}}}}},
				{Role: engine.RoleTool, Parts: []engine.Part{engine.ToolResult{CallID: "1", Name: "f", Parts: []engine.Part{engine.Text{}}}}}}}},
		{Name: "an answer in parts, with reasoning", Body: `"messages":[{"role":"assistant","reasoning":"r","content":[{"type":"text","text":"a"},{"type":"refusal","refusal":"b"}]}]`,
			Want: engine.Request{Messages: []engine.Message{{Role: engine.RoleAssistant, Parts: []engine.Part{engine.ReasoningText{Text: "r"}, engine.Text{Text: "a"}, engine.Text{Text: "b"}}}}}},
		{Name: "a refusal", Body: `"messages":[{"role":"assistant","refusal":"no","reasoning_content":"r","reasoning":"other"}]`,
			Want: engine.Request{Messages: []engine.Message{{Role: engine.RoleAssistant, Parts: []engine.Part{engine.ReasoningText{Text: "r"}, engine.Text{Text: "no"}}}}}},
		{Name: "images", Body: `"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}},{"type":"image_url","image_url":{"url":"https://a/b"}}]}]`,
			Want: engine.Request{Messages: []engine.Message{{Role: engine.RoleUser, Parts: []engine.Part{
				engine.Image{Data: []byte{0, 0, 0}, Param: "messages[0].content[0].image_url.url"},
				engine.Image{URL: "https://a/b", Param: "messages[0].content[1].image_url.url"}}}}}},
		{Name: "an image in a file", Body: `"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"file:///etc/passwd"}}]}]`, Param: "messages[0].content[0].image_url.url"},
		{Name: "an image that is no base64", Body: `"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,!"}}]}]`, Param: "messages[0].content[0].image_url.url"},
	})
}

func TestSettings(t *testing.T) {
	checkMappings(t, []handlerstest.Mapping{
		{Name: "the least", Body: user},

		{Name: "zero is a value", Body: user + `,"temperature":0,"top_p":0,"seed":0,"frequency_penalty":0,"presence_penalty":0`,
			Want: engine.Request{Sampling: engine.Sampling{Temperature: new(0.0), TopP: new(0.0), Seed: new(int64(0)), FrequencyPenalty: new(0.0), PresencePenalty: new(0.0)}}},
		{Name: "parameters of local servers", Body: user + `,"top_k":3,"min_p":0.1,"repeat_penalty":0`,
			Want: engine.Request{Sampling: engine.Sampling{TopK: new(3), MinP: new(0.1), RepeatPenalty: new(0.0)}}},
		{Name: "null is none", Body: user + `,"temperature":null,"seed":null,"tools":null,"tool_choice":null,"stop":null,"n":null,"logprobs":null,"logit_bias":null,"response_format":null,"max_tokens":null,"stream":null,"stream_options":null,"reasoning_effort":null`},
		{Name: "integers written otherwise", Body: user + `,"seed":1e2,"n":2.0`, Want: engine.Request{Sampling: engine.Sampling{Seed: new(int64(100))}, Choices: 2}},
		{Name: "biases", Body: user + `,"logit_bias":{"11":-100,"0":1}`, Want: engine.Request{Sampling: engine.Sampling{LogitBias: map[int]float64{11: -100, 0: 1}}}},
		{Name: "one stop string", Body: user + `,"stop":"END"`, Want: engine.Request{Stop: []string{"END"}}},
		{Name: "two", Body: user + `,"stop":["END","STOP"]`, Want: engine.Request{Stop: []string{"END", "STOP"}}},
		{Name: "max_tokens", Body: user + `,"max_tokens":5`, Want: engine.Request{MaxTokens: new(5)}},
		{Name: "the current name wins", Body: user + `,"max_tokens":5,"max_completion_tokens":6`, Want: engine.Request{MaxTokens: new(6)}},
		{Name: "logprobs", Body: user + `,"logprobs":true`, Want: engine.Request{Logprobs: new(0)}},
		{Name: "top_logprobs", Body: user + `,"logprobs":true,"top_logprobs":20`, Want: engine.Request{Logprobs: new(20)}},
		{Name: "top_logprobs of nothing", Body: user + `,"top_logprobs":0`},
		{Name: "top_logprobs alone", Body: user + `,"top_logprobs":1`, Param: "top_logprobs"},
		{Name: "JSON", Body: user + `,"response_format":{"type":"json_object"}`, Want: engine.Request{Format: engine.Format{Kind: engine.FormatJSON}}},
		{Name: "text", Body: user + `,"response_format":{"type":"text"}`},
		{Name: "a schema", Body: user + `,"response_format":{"type":"json_schema","json_schema":{"name":"n","strict":true,"schema":{"b":1, "a":2}}}`,
			Want: engine.Request{Format: engine.Format{Kind: engine.FormatSchema, Name: "n", Schema: json.RawMessage(`{"b":1, "a":2}`)}}},
		{Name: "a format without a schema", Body: user + `,"response_format":{"type":"json_schema","json_schema":{"name":"n"}}`,
			Want: engine.Request{Format: engine.Format{Kind: engine.FormatJSON, Name: "n"}}},
		{Name: "no effort", Body: user + `,"reasoning_effort":"none"`, Want: engine.Request{Reasoning: engine.Reasoning{Mode: engine.ReasoningOff}}},
		{Name: "the least effort", Body: user + `,"reasoning_effort":"minimal"`, Want: engine.Request{Reasoning: engine.Reasoning{Mode: engine.ReasoningOn, Effort: "low"}}},
		{Name: "much effort", Body: user + `,"reasoning_effort":"xhigh"`, Want: engine.Request{Reasoning: engine.Reasoning{Mode: engine.ReasoningOn, Effort: "high"}}},
		{Name: "stream options without a stream", Body: user + `,"stream_options":{"include_usage":true}`},
		{Name: "several answers in a stream", Body: user + `,"n":3,"stream":true`, Want: engine.Request{Choices: 3}},
	})
}
