package openai

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/diglot/diglot/engine"
	wire "github.com/diglot/diglot/gen/openai"
	"github.com/diglot/diglot/handlers/handlerstest"
	"github.com/diglot/diglot/handlers/internal/exchange"
	"github.com/diglot/diglot/openapi"
)

// bindResponse is what the generated code and the operation do with a checked
// body.
func bindResponse(body []byte) (*engine.Request, error) {
	var in wire.CreateResponseRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	if _, err := newResponder(&in, newID, time.Now); err != nil {
		return nil, err
	}
	req, places, err := toResponseRequest(&in)
	return handlerstest.Checked(req, err, places.fromPlace)
}

func FuzzToResponseRequest(f *testing.F) {
	handlerstest.FuzzRequest(f, openapi.OpenAI, "createResponse", []byte(`{"model":"m","input":"u"}`), bindResponse)
}

const (
	functions  = `"tools":[{"type":"function","name":"f"},{"type":"function","name":"g"}]`
	calledItem = `{"type":"function_call","call_id":"call_1","name":"f","arguments":"{\"a\": <1>"}`
)

// checkResponseMappings completes each test with a request of one user turn.
func checkResponseMappings(t *testing.T, tests []handlerstest.Mapping) {
	t.Helper()
	for i := range tests {
		tests[i].Body = `{"model":"m",` + tests[i].Body + "}"
		complete(&tests[i].Want)
	}
	handlerstest.CheckMappings(t, openapi.OpenAI, "createResponse", bindResponse, tests)
}

func said(role engine.Role, texts ...string) engine.Message {
	m := engine.Message{Role: role}
	for _, text := range texts {
		m.Parts = append(m.Parts, engine.Text{Text: text})
	}
	return m
}

func TestResponseItems(t *testing.T) {
	result := engine.Message{Role: engine.RoleTool, Parts: []engine.Part{engine.ToolResult{CallID: "1", Name: "f", Parts: []engine.Part{engine.Text{Text: "r"}}}}}
	checkResponseMappings(t, []handlerstest.Mapping{
		{Name: "a string", Body: `"input":"u"`},
		{Name: "a message without type", Body: `"input":[{"role":"user","content":"u"}]`},
		{Name: "with a type that is null", Body: `"input":[{"type":null,"role":"user","content":"u"}]`},
		{Name: "in parts", Body: `"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_text","text":"b"}]}]`,
			Want: engine.Request{Messages: []engine.Message{said(engine.RoleUser, "a", "b")}}},
		{Name: "instructions first", Body: `"instructions":"i","input":[{"role":"user","content":"u"},{"role":"system","content":"s"},{"role":"developer","content":"d"}]`,
			Want: engine.Request{Messages: []engine.Message{said(engine.RoleSystem, "i"), said(engine.RoleUser, "u"), said(engine.RoleSystem, "s"), said(engine.RoleDeveloper, "d")}}},
		{Name: "what the assistant did is one turn", Body: `"input":[
			{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"t"}]},
			{"type":"message","role":"assistant","id":"msg_1","status":"completed","content":[{"type":"output_text","text":"a","annotations":[]},{"type":"refusal","refusal":"b"}]},
			` + calledItem + `,{"type":"function_call_output","call_id":"call_1","output":"r"},{"role":"assistant","content":"end"}]`,
			Want: engine.Request{Messages: []engine.Message{
				{Role: engine.RoleAssistant, Parts: []engine.Part{engine.ReasoningText{Text: "t"}, engine.Text{Text: "a"}, engine.Text{Text: "b"}, called}},
				result, said(engine.RoleAssistant, "end")}}},
		{Name: "thinking itself wins over its summary", Body: `"input":[{"type":"reasoning","summary":[{"type":"summary_text","text":"s"}],"content":[{"type":"reasoning_text","text":"a"},{"type":"reasoning_text","text":"b"}]},{"role":"assistant","content":"x"}]`,
			Want: engine.Request{Messages: []engine.Message{{Role: engine.RoleAssistant, Parts: []engine.Part{engine.ReasoningText{Text: "a"}, engine.ReasoningText{Text: "b"}, engine.Text{Text: "x"}}}}}},
		{Name: "thinking that says nothing", Body: `"input":[{"role":"user","content":"u"},{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"x"}]`},
		{Name: "a result in parts", Body: `"input":[` + calledItem + `,{"type":"function_call_output","call_id":"call_1","output":[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"https://a/b"}]}]`,
			Want: engine.Request{Messages: []engine.Message{
				{Role: engine.RoleAssistant, Parts: []engine.Part{called}},
				{Role: engine.RoleTool, Parts: []engine.Part{engine.ToolResult{CallID: "1", Name: "f", Parts: []engine.Part{engine.Text{Text: "a"}, engine.Image{URL: "https://a/b", Param: "input[1].output[1].image_url"}}}}}}}},
		{Name: "parallel calls", Body: `"input":[` + calledItem + `,{"type":"function_call","call_id":"x","name":"g","arguments":""},{"type":"function_call_output","call_id":"x","output":"r"}]`,
			Want: engine.Request{Messages: []engine.Message{
				{Role: engine.RoleAssistant, Parts: []engine.Part{called, engine.ToolCall{ID: "x", Name: "g", Arguments: "{}"}}},
				{Role: engine.RoleTool, Parts: []engine.Part{engine.ToolResult{CallID: "x", Name: "g", Parts: []engine.Part{engine.Text{Text: "r"}}}}}}}},
		{Name: "a call without arguments, a result of nothing", Body: `"input":[{"type":"function_call","call_id":"x","name":"g"},{"type":"function_call_output","call_id":"x"},{"type":"function_call","call_id":"y","name":"g","arguments":null},{"type":"function_call_output","call_id":"y","output":null}]`,
			Want: engine.Request{Messages: []engine.Message{
				{Role: engine.RoleAssistant, Parts: []engine.Part{engine.ToolCall{ID: "x", Name: "g", Arguments: "{}"}}},
				{Role: engine.RoleTool, Parts: []engine.Part{engine.ToolResult{CallID: "x", Name: "g", Parts: []engine.Part{engine.Text{}}}}},
				{Role: engine.RoleAssistant, Parts: []engine.Part{engine.ToolCall{ID: "y", Name: "g", Arguments: "{}"}}},
				{Role: engine.RoleTool, Parts: []engine.Part{engine.ToolResult{CallID: "y", Name: "g", Parts: []engine.Part{engine.Text{}}}}}}}},
		{Name: "items of the service's own tools, and references", Body: `"input":[{"type":"item_reference","id":"rs_1"},{"type":"web_search_call","id":"ws_1","status":"completed"},{"role":"user","content":"u"},{"type":"not known yet"}]`},
		{Name: "nothing else", Body: `"input":[{"type":"item_reference","id":"rs_1"}]`, Param: "input"},
		{Name: "a result without a call", Body: `"input":[{"role":"user","content":"u"},{"type":"function_call_output","call_id":"call_1","output":"r"}]`, Param: "input[1].call_id"},
		{Name: "images", Body: `"input":[{"role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,AAAA","detail":"auto"}]}]`,
			Want: engine.Request{Messages: []engine.Message{{Role: engine.RoleUser, Parts: []engine.Part{engine.Image{Data: []byte{0, 0, 0}, Param: "input[0].content[0].image_url"}}}}}},
		{Name: "an image by the assistant", Body: `"input":[{"role":"assistant","content":[{"type":"input_image","image_url":"data:image/png;base64,AAAA"}]}]`, Param: "input[0].content[0]"},
		{Name: "an image in a file", Body: `"input":[{"role":"user","content":[{"type":"input_image","image_url":"file:///etc/passwd"}]}]`, Param: "input[0].content[0].image_url"},
		{Name: "no content", Body: `"input":[{"role":"assistant","content":[]},{"role":"user","content":[]}]`,
			Want: engine.Request{Messages: []engine.Message{said(engine.RoleAssistant), said(engine.RoleUser)}}},
	})
}

func TestResponseTools(t *testing.T) {
	choose := func(choice string) string { return `"input":"u",` + functions + `,"tool_choice":` + choice }
	want := func(choice engine.ToolChoice) engine.Request { return engine.Request{Tools: both, ToolChoice: choice} }
	checkResponseMappings(t, []handlerstest.Mapping{
		{Name: "auto by absence", Body: `"input":"u",` + functions, Want: want(engine.ToolChoice{})},
		{Name: "auto", Body: choose(`"auto"`), Want: want(engine.ToolChoice{})},
		{Name: "none", Body: choose(`"none"`), Want: want(engine.ToolChoice{Mode: engine.ToolNone})},
		{Name: "required", Body: choose(`"required"`), Want: want(engine.ToolChoice{Mode: engine.ToolRequired})},
		{Name: "named", Body: choose(`{"type":"function","name":"g"}`), Want: want(engine.ToolChoice{Mode: engine.ToolRequired, Names: []string{"g"}, Single: true})},
		{Name: "allowed", Body: choose(`{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"g"},{"type":"mcp","server_label":"x"}]}`),
			Want: want(engine.ToolChoice{Names: []string{"g"}})},
		{Name: "one of the allowed", Body: choose(`{"type":"allowed_tools","mode":"required","tools":[{"type":"function","name":"g"}]}`),
			Want: want(engine.ToolChoice{Mode: engine.ToolRequired, Names: []string{"g"}})},
		{Name: "no function is allowed", Body: choose(`{"type":"allowed_tools","mode":"auto","tools":[{"type":"image_generation"}]}`), Want: want(engine.ToolChoice{Mode: engine.ToolNone})},
		{Name: "no function is allowed, one is required", Body: choose(`{"type":"allowed_tools","mode":"required","tools":[{"type":"image_generation"}]}`), Param: "tool_choice.tools"},
		{Name: "one call", Body: `"input":"u",` + functions + `,"parallel_tool_calls":false`, Want: want(engine.ToolChoice{Single: true})},
		{Name: "an unknown name", Body: choose(`{"type":"function","name":"x"}`), Param: "tool_choice"},
		{Name: "required of none", Body: `"input":"u","tools":[{"type":"web_search"}],"tool_choice":"required"`, Param: "tool_choice"},
		{Name: "other kinds", Body: `"input":"u","tools":[{"type":"web_search","filters":{}},{"type":"function","name":"f"},{"type":"namespace","name":"x","tools":[]},{"type":"custom","name":"y"}]`,
			Want: engine.Request{Tools: []engine.Tool{{Name: "f"}}}},
		{Name: "a name twice", Body: `"input":"u","tools":[{"type":"function","name":"f"},{"type":"function","name":"f"}]`, Param: "tools[1].name"},
		{Name: "a schema stays as it is", Body: `"input":"u","tools":[{"type":"function","name":"f","description":"d","strict":true,"parameters":{"type": "object", "b":1e999, "a":null}}]`,
			Want: engine.Request{Tools: []engine.Tool{{Name: "f", Description: "d", Strict: true, Parameters: json.RawMessage(`{"type": "object", "b":1e999, "a":null}`)}}}},
	})
}

func TestResponseSettings(t *testing.T) {
	checkResponseMappings(t, []handlerstest.Mapping{
		{Name: "zero is a value", Body: `"input":"u","temperature":0,"top_p":0,"frequency_penalty":0,"presence_penalty":0`,
			Want: engine.Request{Sampling: engine.Sampling{Temperature: new(0.0), TopP: new(0.0), FrequencyPenalty: new(0.0), PresencePenalty: new(0.0)}}},
		{Name: "null is none", Body: `"input":"u","temperature":null,"tools":null,"tool_choice":null,"text":null,"reasoning":null,"include":null,"truncation":null,"previous_response_id":null,"conversation":null,"instructions":null,"max_output_tokens":null`},
		{Name: "empty objects", Body: `"input":"u","text":{},"reasoning":{},"include":[],"metadata":{}`},
		{Name: "max_output_tokens", Body: `"input":"u","max_output_tokens":5`, Want: engine.Request{MaxTokens: new(5)}},
		{Name: "truncation", Body: `"input":"u","truncation":"auto"`, Want: engine.Request{Truncate: true}},
		{Name: "no truncation", Body: `"input":"u","truncation":"disabled"`},
		{Name: "logprobs", Body: `"input":"u","include":["message.output_text.logprobs"]`, Want: engine.Request{Logprobs: new(0)}},
		{Name: "alternatives", Body: `"input":"u","include":["reasoning.encrypted_content","message.output_text.logprobs"],"top_logprobs":3`, Want: engine.Request{Logprobs: new(3)}},
		{Name: "alternatives alone", Body: `"input":"u","top_logprobs":3`, Want: engine.Request{Logprobs: new(3)}},
		{Name: "no alternatives", Body: `"input":"u","top_logprobs":0`},
		{Name: "what cannot be included", Body: `"input":"u","include":["reasoning.encrypted_content"]`},
		{Name: "text", Body: `"input":"u","text":{"format":{"type":"text"},"verbosity":"low"}`},
		{Name: "JSON", Body: `"input":"u","text":{"format":{"type":"json_object"}}`, Want: engine.Request{Format: engine.Format{Kind: engine.FormatJSON}}},
		{Name: "a schema", Body: `"input":"u","text":{"format":{"type":"json_schema","name":"n","strict":true,"schema":{"b":1, "a":2}}}`,
			Want: engine.Request{Format: engine.Format{Kind: engine.FormatSchema, Name: "n", Schema: json.RawMessage(`{"b":1, "a":2}`)}}},
		{Name: "no effort", Body: `"input":"u","reasoning":{"effort":"none"}`, Want: engine.Request{Reasoning: engine.Reasoning{Mode: engine.ReasoningOff}}},
		{Name: "little effort", Body: `"input":"u","reasoning":{"effort":"low","summary":"auto"}`, Want: engine.Request{Reasoning: engine.Reasoning{Mode: engine.ReasoningOn, Effort: "low"}}},
		{Name: "a summary alone leaves it to the template", Body: `"input":"u","reasoning":{"summary":"auto"}`},
	})
}

// newTestResponder makes a responder with sequential ids and a fixed time.
func newTestResponder(t testing.TB, body string) *responder {
	t.Helper()
	var in wire.CreateResponseRequest
	if err := json.Unmarshal([]byte(body), &in); err != nil {
		t.Fatal(err)
	}
	ids := 0
	count := func(prefix string) string {
		ids++
		return fmt.Sprintf("%s%d", prefix, ids)
	}
	r, err := newResponder(&in, count, func() time.Time { return time.Unix(1_700_000_000, 0) })
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// responseBodies are the requests that make a difference to a reply.
var responseBodies = map[string]string{
	"plain":   `{"model":"m","input":"u"}`,
	"summary": `{"model":"m","input":"u","reasoning":{"summary":"auto","effort":"low"}}`,
	"echo": `{"model":"m","input":"u","instructions":"i","temperature":0,"top_p":0.5,"max_output_tokens":7,"truncation":"auto",` +
		`"metadata":{"a":"b"},"parallel_tool_calls":false,"prompt_cache_key":"k","safety_identifier":"s","top_logprobs":2,` +
		`"frequency_penalty":1,"presence_penalty":-1,"reasoning":{"effort":"high","generate_summary":"concise"},` +
		`"text":{"format":{"type":"json_schema","name":"n","schema":{"b":1,"a":2},"strict":true}},` +
		`"tools":[{"type":"function","name":"f"},{"type":"function","name":"g","description":"d","parameters":{"b":1,"a":2},"strict":true}],` +
		`"tool_choice":{"type":"function","name":"f"}}`,
}

// TestResponses writes every shape of answer, streamed and whole.
func TestResponses(t *testing.T) {
	for kind, body := range responseBodies {
		for _, reply := range handlerstest.Replies() {
			if reply.Request.Choices > 1 || kind != "plain" && reply.Name != "reasoning_text_calls" {
				continue
			}
			name := "response/" + kind + "/" + reply.Name
			t.Run(name, func(t *testing.T) {
				events := obeyed(t, body, reply.Events)
				stream := encodeResponse(t, newTestResponder(t, body), events, nil)
				handlerstest.Golden(t, update, name+".stream.txt", stream)

				w := httptest.NewRecorder()
				whole := wholeResponse(t, newTestResponder(t, body), events)
				if err := (answer{&exchange.Exchange{}, whole}).VisitCreateResponseResponse(w); err != nil {
					t.Fatal(err)
				}
				handlerstest.Golden(t, update, name+".json", w.Body.String())
			})
		}
	}
}

// obeyed are the events of an engine that uses what the request says.
func obeyed(t *testing.T, body string, events []engine.Event) []engine.Event {
	req, err := bindResponse([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	start := events[0].(engine.Start)
	start.Used = engine.Used{Sampling: req.Sampling, MaxTokens: req.MaxTokens, Reasoning: req.Reasoning, Truncate: req.Truncate}
	return append([]engine.Event{start}, events[1:]...)
}

// TestResponseUsed: a response repeats what the engine uses, whatever the
// request says, in each event that holds it.
func TestResponseUsed(t *testing.T) {
	const open = `{"model":"m","input":"u"}`
	const said = `{"model":"m","input":"u","temperature":2,"top_p":0.1,"frequency_penalty":1,"presence_penalty":1,"max_output_tokens":900,"truncation":"auto","reasoning":{"effort":"xhigh"}}`
	for _, tt := range []struct {
		name, body string
		used       engine.Used
		want       string
	}{
		{"defaults of the engine", open, engine.Used{Sampling: engine.DefaultSampling(), MaxTokens: new(100)},
			`{"frequency_penalty":0,"max_output_tokens":100,"presence_penalty":0,"reasoning":null,"temperature":0.8,"top_p":0.95,"truncation":"disabled"}`},
		{"nothing is known", open, engine.Used{},
			`{"frequency_penalty":0,"max_output_tokens":null,"presence_penalty":0,"reasoning":null,"temperature":1,"top_p":1,"truncation":"disabled"}`},
		{"less than was said", said, engine.Used{
			Sampling:  engine.Sampling{Temperature: new(0.0), TopP: new(1.0), FrequencyPenalty: new(0.5), PresencePenalty: new(-0.5)},
			MaxTokens: new(7), Reasoning: engine.Reasoning{Mode: engine.ReasoningOn, Effort: "high"}},
			`{"frequency_penalty":0.5,"max_output_tokens":7,"presence_penalty":-0.5,"reasoning":{"effort":"high","summary":null},"temperature":0,"top_p":1,"truncation":"disabled"}`},
		{"thinking without levels", said, engine.Used{Reasoning: engine.Reasoning{Mode: engine.ReasoningOn}, Truncate: true},
			`{"frequency_penalty":1,"max_output_tokens":900,"presence_penalty":1,"reasoning":{"effort":null,"summary":null},"temperature":2,"top_p":0.1,"truncation":"auto"}`},
		{"no thinking", `{"model":"m","input":"u","reasoning":{"effort":"none"}}`, engine.Used{Reasoning: engine.Reasoning{Mode: engine.ReasoningOff}},
			`{"frequency_penalty":0,"max_output_tokens":null,"presence_penalty":0,"reasoning":{"effort":"none","summary":null},"temperature":1,"top_p":1,"truncation":"disabled"}`},
	} {
		events := handlerstest.Text("x")
		events[0] = engine.Start{PromptTokens: 3, Used: tt.used}
		encoder := newResponseEncoder(newTestResponder(t, tt.body), &exchange.Exchange{})
		places := map[string]any{"the whole response": wholeResponse(t, newTestResponder(t, tt.body), events)}
		for _, event := range events {
			for _, f := range encoder.Encode(event) {
				var data struct{ Response any }
				if err := json.Unmarshal(f.Data, &data); err == nil && data.Response != nil {
					places[f.Event] = data.Response
				}
			}
		}
		if len(places) != 4 {
			t.Errorf("%s: %d places, want the whole, created, in progress and completed", tt.name, len(places))
		}
		for place, response := range places {
			if got := usedIn(t, response); got != tt.want {
				t.Errorf("%s: %s has\n%s, want\n%s", tt.name, place, got, tt.want)
			}
		}
	}
}

// usedIn are the fields of a response that tell what was used.
func usedIn(t *testing.T, response any) string {
	raw, err := json.Marshal(response)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	used := map[string]any{}
	for _, name := range []string{"temperature", "top_p", "frequency_penalty", "presence_penalty", "max_output_tokens", "truncation", "reasoning"} {
		used[name] = all[name]
	}
	text, _ := json.Marshal(used)
	return string(text)
}

// TestResponseFailure writes a stream that fails inside an item.
func TestResponseFailure(t *testing.T) {
	crash := &engine.Error{Code: engine.CodeEngineCrashed, Message: "Gone."}
	stream := encodeResponse(t, newTestResponder(t, responseBodies["plain"]), handlerstest.Text("x")[:3], crash)
	handlerstest.Golden(t, update, "response/failed.stream.txt", stream)
}

func encodeResponse(t testing.TB, r *responder, events []engine.Event, err *engine.Error) string {
	t.Helper()
	document, failed := openapi.OpenAI()
	if failed != nil {
		t.Fatal(failed)
	}
	var stream strings.Builder
	encoder := newResponseEncoder(r, &exchange.Exchange{Document: document})
	for _, event := range events {
		for _, f := range encoder.Encode(event) {
			stream.Write(f.Append(nil))
		}
	}
	if err != nil {
		for _, f := range encoder.Fail(err) {
			stream.Write(f.Append(nil))
		}
	}
	return stream.String()
}

func wholeResponse(t testing.TB, r *responder, events []engine.Event) wire.Response {
	t.Helper()
	response, err := engine.Collect((&handlerstest.Engine{Events: events}).Generate(t.Context(), &engine.Request{}))
	if err != nil {
		t.Fatal(err)
	}
	return r.fromResponse(response)
}
