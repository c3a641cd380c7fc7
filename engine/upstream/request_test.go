package upstream

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/engine"
)

// rest is what the body of each streamed request ends with.
const rest = `,"return_progress":true,"stream":true,"stream_options":{"continuous_usage_stats":true,"include_usage":true}`

// long: most of it is the table.
func TestRequests(t *testing.T) {
	f := engine.Tool{Name: "f", Description: "does", Parameters: json.RawMessage(`{"type":"object","properties":{"z":{"const":"<1>"},"a":{}}}`), Strict: true}
	const fText = `{"function":{"description":"does","name":"f","parameters":{"type":"object","properties":{"z":{"const":"<1>"},"a":{}}},"strict":true},"type":"function"}`
	g := engine.Tool{Name: "g"}
	const gText = `{"function":{"name":"g","parameters":{"type":"object","properties":{}}},"type":"function"}`
	user := engine.Message{Role: engine.RoleUser, Parts: []engine.Part{engine.Text{Text: "u"}}}
	const userText = `{"content":"u","role":"user"}`
	result := func(r engine.ToolResult) engine.Message {
		return engine.Message{Role: engine.RoleTool, Parts: []engine.Part{r}}
	}
	tests := []struct {
		name   string
		change func(*engine.Request)
		want   string // the members beside model and stream; the messages are userText where they are not here
	}{
		{"nothing", func(*engine.Request) {}, ``},
		{"sampling", func(r *engine.Request) {
			r.Sampling = engine.Sampling{Temperature: new(0.0), TopP: new(0.5), FrequencyPenalty: new(1.0), PresencePenalty: new(-1.0),
				Seed: new(int64(7)), LogitBias: map[int]float64{12: -100}}
		}, `"frequency_penalty":1,"logit_bias":{"12":-100},"presence_penalty":-1,"seed":7,"temperature":0,"top_p":0.5`},
		{"sampling beyond the style", func(r *engine.Request) {
			r.Sampling = engine.Sampling{TopK: new(0), MinP: new(0.1), TypicalP: new(0.9), RepeatPenalty: new(1.1), RepeatLastN: new(64)}
		}, `"min_p":0.1,"repeat_last_n":64,"repeat_penalty":1.1,"repetition_penalty":1.1,"top_k":0,"typical_p":0.9`},
		{"limits", func(r *engine.Request) {
			r.MaxTokens, r.Stop, r.Choices, r.Logprobs = new(9), []string{"a", "b"}, 2, new(0)
		},
			`"logprobs":true,"max_tokens":9,"n":2,"stop":["a","b"],"top_logprobs":0`},
		{"any object", func(r *engine.Request) { r.Format = engine.Format{Kind: engine.FormatJSON} }, `"response_format":{"type":"json_object"}`},
		{"a schema", func(r *engine.Request) {
			r.Format = engine.Format{Kind: engine.FormatSchema, Name: "x", Schema: json.RawMessage(`{"type":"object","b":1,"a":2}`)}
		}, `"response_format":{"json_schema":{"name":"x","schema":{"type":"object","b":1,"a":2},"strict":true},"type":"json_schema"}`},
		{"tools", func(r *engine.Request) { r.Tools = []engine.Tool{f, g} }, `"tools":[` + fText + `,` + gText + `]`},
		{"no call", func(r *engine.Request) { r.Tools, r.ToolChoice.Mode = []engine.Tool{g}, engine.ToolNone },
			`"tool_choice":"none","tools":[` + gText + `]`},
		{"one call", func(r *engine.Request) {
			r.Tools, r.ToolChoice = []engine.Tool{g}, engine.ToolChoice{Mode: engine.ToolRequired, Single: true}
		}, `"parallel_tool_calls":false,"tool_choice":"required","tools":[` + gText + `]`},
		{"a call of one", func(r *engine.Request) {
			r.Tools, r.ToolChoice = []engine.Tool{f, g}, engine.ToolChoice{Mode: engine.ToolRequired, Names: []string{"g"}}
		}, `"tool_choice":"required","tools":[` + gText + `]`},
		{"thinking", func(r *engine.Request) {
			r.Reasoning = engine.Reasoning{Mode: engine.ReasoningOn, Effort: "high"}
		}, `"chat_template_kwargs":{"enable_thinking":true},"reasoning_effort":"high"`},
		{"no thinking", func(r *engine.Request) { r.Reasoning.Mode = engine.ReasoningOff },
			`"chat_template_kwargs":{"enable_thinking":false},"reasoning_effort":"none"`},

		{"instructions", func(r *engine.Request) {
			r.Messages = []engine.Message{{Role: engine.RoleSystem, Name: "n", Parts: []engine.Part{engine.Text{Text: "a"}, engine.Text{Text: "b"}}},
				{Role: engine.RoleDeveloper, Parts: []engine.Part{engine.Text{Text: "c"}}}, user}
		}, `"messages":[{"content":"a\nb","name":"n","role":"system"},{"content":"c","role":"system"},` + userText + `]`},
		{"pictures", func(r *engine.Request) {
			r.Messages = []engine.Message{{Role: engine.RoleUser, Parts: []engine.Part{engine.Text{Text: "a"},
				engine.Image{Data: []byte("\x89PNG\r\n\x1a\n"), MediaType: ""}, engine.Image{Data: []byte("x"), MediaType: "image/webp"}, engine.Image{URL: "https://h/p.png"}}}}
		}, `"messages":[{"content":[{"text":"a","type":"text"},{"image_url":{"url":"data:image/png;base64,iVBORw0KGgo="},"type":"image_url"},` +
			`{"image_url":{"url":"data:image/webp;base64,eA=="},"type":"image_url"},{"image_url":{"url":"https://h/p.png"},"type":"image_url"}],"role":"user"}]`},
		{"an earlier answer", func(r *engine.Request) {
			r.Messages = []engine.Message{user, {Role: engine.RoleAssistant, Parts: []engine.Part{engine.ReasoningText{Text: "hm"}, engine.Text{Text: "a"}}}, user}
		}, `"messages":[` + userText + `,{"content":"a","reasoning_content":"hm","role":"assistant"},` + userText + `]`},
		{"earlier calls", func(r *engine.Request) {
			r.Messages = []engine.Message{user, {Role: engine.RoleAssistant, Parts: []engine.Part{
				engine.ToolCall{ID: "1", Name: "f", Arguments: `{"a":1}`}, engine.ToolCall{ID: "raw_AbCdEf123", Name: "g"}}},
				result(engine.ToolResult{CallID: "1", Parts: []engine.Part{engine.Text{Text: "r"}, engine.Image{Data: []byte("x"), MediaType: "image/gif"}}}),
				result(engine.ToolResult{CallID: "raw_AbCdEf123", IsError: true, Parts: []engine.Part{engine.Text{Text: "bad"}}}), user}
		}, `"messages":[` + userText + `,{"role":"assistant","tool_calls":[{"function":{"arguments":"{\"a\":1}","name":"f"},"id":"call_1","type":"function"},` +
			`{"function":{"arguments":"{}","name":"g"},"id":"AbCdEf123","type":"function"}]},` +
			`{"content":"r","role":"tool","tool_call_id":"call_1"},{"content":"Error: bad","role":"tool","tool_call_id":"AbCdEf123"},` +
			`{"content":[{"text":"Pictures of the results above:","type":"text"},{"image_url":{"url":"data:image/gif;base64,eA=="},"type":"image_url"}],"role":"user"},` +
			userText + `]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, p := serve(t, Config{Model: "there"}, func(w http.ResponseWriter, _ *http.Request, _ int) {
				stream(w, says(`"content":"a"`), end("stop"), usage, done)
			})
			req := ask("u")
			tt.change(req)
			_, _ = gather(t.Context(), e, req) // the reply is of another test
			got := p.last()
			if got.path != "/v1/chat/completions" {
				t.Errorf("path %s", got.path)
			}
			want := tt.want
			if !strings.Contains(want, `"messages"`) {
				want = strings.TrimSuffix(`"messages":[`+userText+`],`+want, ",")
			}
			want = `{"model":"there",` + want + rest + `}`
			if diff := cmp.Diff(sorted(t, want), sorted(t, got.body)); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
			for _, part := range []string{string(f.Parameters), `"schema":{"type":"object","b":1,"a":2}`} {
				if strings.Contains(want, part) && !strings.Contains(got.body, part) {
					t.Errorf("the client's own text is changed: %s", got.body)
				}
			}
		})
	}
}

// sorted is a JSON text with its members in order, for comparing.
func sorted(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return v
}

func TestCompletions(t *testing.T) {
	tests := []struct {
		name   string
		change func(*engine.Request)
		body   string
		lines  []string
		want   string
	}{
		{"text", func(r *engine.Request) { r.MaxTokens = new(4) },
			`{"model":"m","prompt":"p","max_tokens":4` + rest + `}`,
			[]string{`{"choices":[{"index":0,"text":"a","finish_reason":null}]}`, `{"choices":[{"index":0,"text":"","finish_reason":"length"}]}`, usage, done},
			`start:0 0.0[text "a"] 0:max_tokens done:5,0,3,0`},
		{"everything", func(r *engine.Request) {
			r.Prompt.Suffix, r.Prompt.Echo, r.Choices, r.Logprobs = "s", true, 2, new(1)
			r.Stop, r.Sampling.TopK = []string{"."}, new(3)
		},
			`{"model":"m","prompt":"p","suffix":"s","echo":true,"n":2,"logprobs":1,"stop":["."],"top_k":3` + rest + `}`,
			[]string{`{"choices":[{"index":0,"text":"p","finish_reason":"stop"},{"index":1,"text":"p","finish_reason":"stop"}]}`, usage, done},
			`start:0 0.0[text "p"] 0:end_of_turn 1.0[text "p"] 1:end_of_turn done:5,0,3,0`},
		{"the best of several", func(r *engine.Request) { r.BestOf = 3 },
			`{"model":"m","prompt":"p","best_of":3}`, nil, `start:5 0.0[text "a"] 0:end_of_turn done:5,0,3,0`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, p := serve(t, Config{}, func(w http.ResponseWriter, _ *http.Request, _ int) {
				if tt.lines == nil {
					status(w, 200, `{"choices":[{"index":0,"text":"a","finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":3}}`)
					return
				}
				stream(w, tt.lines...)
			})
			req := &engine.Request{Model: "m", Prompt: &engine.Prompt{Text: "p"}, Choices: 1}
			tt.change(req)
			checkReply(t, e, req, tt.want, "")
			if got := p.last(); got.path != "/v1/completions" {
				t.Errorf("path %s", got.path)
			} else if diff := cmp.Diff(sorted(t, tt.body), sorted(t, got.body)); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
		})
	}
}

// TestCallIDs checks that a server gets back the id that it gave.
func TestCallIDs(t *testing.T) {
	for id, inside := range map[string]string{
		"call_1":          "1",
		"AbCdEf123":       "raw_AbCdEf123",
		"functions.f:0":   "raw_functions.f:0",
		"chatcmpl-tool-1": "raw_chatcmpl-tool-1",
		"call_":           "raw_call_",
		"call_call_1":     "call_1",
		"raw_1":           "raw_raw_1",
		"call_raw_1":      "raw_call_raw_1",
	} {
		if got := toCallID(id); got != inside || fromCallID(got) != id {
			t.Errorf("%s is %s inside, and %s again", id, got, fromCallID(got))
		}
	}
}
