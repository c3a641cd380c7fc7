package openai

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
	tools = `"tools":[{"type":"function","function":{"name":"f"}},{"type":"function","function":{"name":"g"}}]`
	call  = `{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"f","arguments":"{\"a\": <1>"}}]}`
)

// TestToRequest maps each form that a member can have. The base of want is a
// request of one user turn.
func TestToRequest(t *testing.T) {
	hello := []engine.Message{{Role: engine.RoleUser, Parts: []engine.Part{engine.Text{Text: "u"}}}}
	both := []engine.Tool{{Name: "f"}, {Name: "g"}}
	called := engine.ToolCall{ID: "1", Name: "f", Arguments: `{"a": <1>`}
	tests := []struct {
		name, body string
		want       engine.Request
		param      string // of the error; then want is not looked at
	}{
		{name: "the least", body: user},

		{name: "tools: auto by absence", body: user + "," + tools, want: engine.Request{Tools: both}},
		{name: "tools: auto", body: user + "," + tools + `,"tool_choice":"auto"`, want: engine.Request{Tools: both}},
		{name: "tools: none", body: user + "," + tools + `,"tool_choice":"none"`,
			want: engine.Request{Tools: both, ToolChoice: engine.ToolChoice{Mode: engine.ToolNone}}},
		{name: "tools: required", body: user + "," + tools + `,"tool_choice":"required"`,
			want: engine.Request{Tools: both, ToolChoice: engine.ToolChoice{Mode: engine.ToolRequired}}},
		{name: "tools: named", body: user + "," + tools + `,"tool_choice":{"type":"function","function":{"name":"g"}}`,
			want: engine.Request{Tools: both, ToolChoice: engine.ToolChoice{Mode: engine.ToolRequired, Names: []string{"g"}}}},
		{name: "tools: allowed", body: user + "," + tools + `,"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"function","function":{"name":"g"}}]}}`,
			want: engine.Request{Tools: both, ToolChoice: engine.ToolChoice{Names: []string{"g"}}}},
		{name: "tools: one of the allowed", body: user + "," + tools + `,"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[{"type":"function","function":{"name":"g"}}]}}`,
			want: engine.Request{Tools: both, ToolChoice: engine.ToolChoice{Mode: engine.ToolRequired, Names: []string{"g"}}}},
		{name: "tools: one call", body: user + "," + tools + `,"tool_choice":"required","parallel_tool_calls":false`,
			want: engine.Request{Tools: both, ToolChoice: engine.ToolChoice{Mode: engine.ToolRequired, Single: true}}},
		{name: "tools: required of none", body: user + `,"tool_choice":"required"`, param: "tool_choice"},
		{name: "tools: an unknown name", body: user + "," + tools + `,"tool_choice":{"type":"function","function":{"name":"x"}}`, param: "tool_choice"},
		{name: "tools: a name twice", body: user + `,"tools":[{"type":"function","function":{"name":"f"}},{"type":"function","function":{"name":"f"}}]`,
			param: "tools[1].function.name"},
		{name: "tools: a schema stays as it is", body: user + `,"tools":[{"type":"function","function":{"name":"f","description":"d","strict":true,"parameters":{"type": "object", "b":1e999, "a":null}}}]`,
			want: engine.Request{Tools: []engine.Tool{{Name: "f", Description: "d", Strict: true, Parameters: json.RawMessage(`{"type": "object", "b":1e999, "a":null}`)}}}},

		{name: "instructions anywhere", body: `"messages":[{"role":"user","content":"u"},{"role":"system","content":"s"},{"role":"developer","content":[{"type":"text","text":"d"}],"name":"n"}]`,
			want: engine.Request{Messages: []engine.Message{hello[0],
				{Role: engine.RoleSystem, Parts: []engine.Part{engine.Text{Text: "s"}}},
				{Role: engine.RoleDeveloper, Name: "n", Parts: []engine.Part{engine.Text{Text: "d"}}}}}},
		{name: "a call and its result", body: `"messages":[` + call + `,{"role":"tool","tool_call_id":"call_1","content":[{"type":"text","text":"r"}]}]`,
			want: engine.Request{Messages: []engine.Message{
				{Role: engine.RoleAssistant, Parts: []engine.Part{called}},
				{Role: engine.RoleTool, Parts: []engine.Part{engine.ToolResult{CallID: "1", Name: "f", Parts: []engine.Part{engine.Text{Text: "r"}}}}}}}},
		{name: "a result without a call", body: `"messages":[{"role":"tool","tool_call_id":"call_1","content":"r"}]`, param: "messages[0].tool_call_id"},
		{name: "a result before its call", body: `"messages":[{"role":"tool","tool_call_id":"call_1","content":"r"},` + call + `]`, param: "messages[0].tool_call_id"},
		{name: "empty text beside a call", body: `"messages":[{"role":"assistant","content":"","tool_calls":[{"id":"call_1","type":"function","function":{"name":"f","arguments":"{\"a\": <1>"}}]}]`,
			want: engine.Request{Messages: []engine.Message{{Role: engine.RoleAssistant, Parts: []engine.Part{called}}}}},
		{name: "an empty answer", body: `"messages":[{"role":"assistant","content":""}]`,
			want: engine.Request{Messages: []engine.Message{{Role: engine.RoleAssistant, Parts: []engine.Part{engine.Text{}}}}}},
		{name: "an answer of nothing", body: `"messages":[{"role":"assistant","content":null}]`, param: "messages[0].content"},
		{name: "an answer in parts, with reasoning", body: `"messages":[{"role":"assistant","reasoning":"r","content":[{"type":"text","text":"a"},{"type":"refusal","refusal":"b"}]}]`,
			want: engine.Request{Messages: []engine.Message{{Role: engine.RoleAssistant, Parts: []engine.Part{engine.ReasoningText{Text: "r"}, engine.Text{Text: "a"}, engine.Text{Text: "b"}}}}}},
		{name: "a refusal", body: `"messages":[{"role":"assistant","refusal":"no","reasoning_content":"r","reasoning":"other"}]`,
			want: engine.Request{Messages: []engine.Message{{Role: engine.RoleAssistant, Parts: []engine.Part{engine.ReasoningText{Text: "r"}, engine.Text{Text: "no"}}}}}},
		{name: "images", body: `"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}},{"type":"image_url","image_url":{"url":"https://a/b"}}]}]`,
			want: engine.Request{Messages: []engine.Message{{Role: engine.RoleUser, Parts: []engine.Part{
				engine.Image{MediaType: "image/png", Data: []byte{0, 0, 0}}, engine.Image{URL: "https://a/b"}}}}}},
		{name: "an image in a file", body: `"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"file:///etc/passwd"}}]}]`, param: "messages[0].content[0].image_url.url"},
		{name: "an image that is no base64", body: `"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,!"}}]}]`, param: "messages[0].content[0].image_url.url"},

		{name: "zero is a value", body: user + `,"temperature":0,"top_p":0,"seed":0,"frequency_penalty":0,"presence_penalty":0`,
			want: engine.Request{Sampling: engine.Sampling{Temperature: new(0.0), TopP: new(0.0), Seed: new(int64(0)), FrequencyPenalty: new(0.0), PresencePenalty: new(0.0)}}},
		{name: "null is none", body: user + `,"temperature":null,"seed":null,"tools":null,"tool_choice":null,"stop":null,"n":null,"logprobs":null,"logit_bias":null,"response_format":null,"max_tokens":null,"stream":null,"stream_options":null,"reasoning_effort":null`},
		{name: "integers written otherwise", body: user + `,"seed":1e2,"n":2.0`, want: engine.Request{Sampling: engine.Sampling{Seed: new(int64(100))}, Choices: 2}},
		{name: "biases", body: user + `,"logit_bias":{"11":-100,"0":1}`, want: engine.Request{Sampling: engine.Sampling{LogitBias: map[int]float64{11: -100, 0: 1}}}},
		{name: "a bias on a word", body: user + `,"logit_bias":{"the":1}`, param: "logit_bias"},
		{name: "a bias in another spelling", body: user + `,"logit_bias":{"01":1}`, param: "logit_bias"},
		{name: "one stop string", body: user + `,"stop":"END"`, want: engine.Request{Stop: []string{"END"}}},
		{name: "two", body: user + `,"stop":["END","STOP"]`, want: engine.Request{Stop: []string{"END", "STOP"}}},
		{name: "max_tokens", body: user + `,"max_tokens":5`, want: engine.Request{MaxTokens: new(5)}},
		{name: "the current name wins", body: user + `,"max_tokens":5,"max_completion_tokens":6`, want: engine.Request{MaxTokens: new(6)}},
		{name: "logprobs", body: user + `,"logprobs":true`, want: engine.Request{Logprobs: new(0)}},
		{name: "top_logprobs", body: user + `,"logprobs":true,"top_logprobs":20`, want: engine.Request{Logprobs: new(20)}},
		{name: "top_logprobs of nothing", body: user + `,"top_logprobs":0`},
		{name: "top_logprobs alone", body: user + `,"top_logprobs":1`, param: "top_logprobs"},
		{name: "JSON", body: user + `,"response_format":{"type":"json_object"}`, want: engine.Request{Format: engine.Format{Kind: engine.FormatJSON}}},
		{name: "text", body: user + `,"response_format":{"type":"text"}`},
		{name: "a schema", body: user + `,"response_format":{"type":"json_schema","json_schema":{"name":"n","strict":true,"schema":{"b":1, "a":2}}}`,
			want: engine.Request{Format: engine.Format{Kind: engine.FormatSchema, Name: "n", Schema: json.RawMessage(`{"b":1, "a":2}`)}}},
		{name: "a format without a schema", body: user + `,"response_format":{"type":"json_schema","json_schema":{"name":"n"}}`,
			want: engine.Request{Format: engine.Format{Kind: engine.FormatJSON, Name: "n"}}},
		{name: "no effort", body: user + `,"reasoning_effort":"none"`, want: engine.Request{Reasoning: engine.Reasoning{Mode: engine.ReasoningOff}}},
		{name: "the least effort", body: user + `,"reasoning_effort":"minimal"`, want: engine.Request{Reasoning: engine.Reasoning{Mode: engine.ReasoningOn, Effort: "low"}}},
		{name: "much effort", body: user + `,"reasoning_effort":"xhigh"`, want: engine.Request{Reasoning: engine.Reasoning{Mode: engine.ReasoningOn, Effort: "high"}}},
		{name: "stream options without a stream", body: user + `,"stream_options":{"include_usage":true}`},
		{name: "several answers in a stream", body: user + `,"n":3,"stream":true`, want: engine.Request{Choices: 3}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := request(t, `{"model":"m",`+tt.body+`}`)
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
			want.Model = "m"
			if want.Messages == nil {
				want.Messages = hello
			}
			want.Choices = max(want.Choices, 1)
			if diff := cmp.Diff(&want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// request is what becomes of a body that fits the document.
func request(t *testing.T, body string) (*engine.Request, error) {
	t.Helper()
	document, err := openapi.OpenAI()
	if err != nil {
		t.Fatal(err)
	}
	operation, _ := document.Operation("createChatCompletion")
	checked, v := operation.Check([]byte(body))
	if v != nil {
		t.Fatal(v)
	}
	return bind(checked.Body)
}
