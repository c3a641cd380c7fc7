package handlers_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/diglot/diglot/handlers"
)

// TestFunctionLoop plays a client with functions: it offers one, is asked to call it, and
// sends the result.
func TestFunctionLoop(t *testing.T) {
	h := newHandler(t, handlers.Config{Engine: playing(t, `
models:
  m:
    format: hermes
    replies:
      - when: {contains: 12 degrees}
        pieces: ["It is", " warm."]
      - when: {contains: twice}
        pieces: ["<tool_call>", '{"name": "f", "arguments": {}}', "</tool_call>", "<tool_call>", '{"name": "f", "arguments": {}}', "</tool_call>"]
      - pieces: ["<tool_call>", '{"name": "f", "arguments": {"city": ', '"Oslo"}}', "</tool_call>"]
`)})
	const functions = `,"functions":[{"name":"f","parameters":{"type":"object","properties":{"city":{"type":"string"}}}}]`
	const first = `{"model":"m","messages":[{"role":"user","content":"How warm is it?"}` // goes on
	type message struct {
		Content      *string
		ToolCalls    []any                             `json:"tool_calls"`
		FunctionCall *struct{ Name, Arguments string } `json:"function_call"`
	}
	ask := func(body string) (m message, reason string) {
		t.Helper()
		w := post(t, h, "/v1/chat/completions", []byte(body))
		var reply struct {
			Choices []struct {
				Message      message
				FinishReason string `json:"finish_reason"`
			}
		}
		if err := json.Unmarshal(w.Body.Bytes(), &reply); err != nil || len(reply.Choices) != 1 {
			t.Fatalf("status %d: %s", w.Code, w.Body)
		}
		return reply.Choices[0].Message, reply.Choices[0].FinishReason
	}

	m, reason := ask(first + "]" + functions + "}")
	if m.FunctionCall == nil || m.FunctionCall.Name != "f" || m.FunctionCall.Arguments != `{"city": "Oslo"}` || m.Content != nil || m.ToolCalls != nil || reason != "function_call" {
		t.Errorf("answer %+v, finish reason %q", m, reason)
	}
	stream := post(t, h, "/v1/chat/completions", []byte(first+"]"+functions+`,"stream":true}`)).Body.String()
	for _, part := range []string{`"function_call":{"name":"f","arguments":""}`, `"finish_reason":"function_call"`} {
		if !strings.Contains(stream, part) {
			t.Errorf("the stream lacks %s\n%s", part, stream)
		}
	}
	if strings.Contains(stream, "tool_calls") {
		t.Errorf("the stream speaks of tools\n%s", stream)
	}

	const result = `,{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{\"city\": \"Oslo\"}"}},{"role":"function","name":"f","content":"12 degrees"}]`
	m, reason = ask(first + result + functions + "}")
	if m.Content == nil || *m.Content != "It is warm." || m.FunctionCall != nil || reason != "stop" {
		t.Errorf("answer to the result: %+v, finish reason %q", m, reason)
	}

	// One call is the most: the script may not do more.
	w := post(t, h, "/v1/chat/completions", []byte(`{"model":"m","messages":[{"role":"user","content":"twice"}]`+functions+"}"))
	if w.Code != 500 || !strings.Contains(w.Body.String(), "violates") {
		t.Errorf("two calls: status %d: %s", w.Code, w.Body)
	}
}

// TestFunctionPlaces checks that errors of the engine name the client's fields.
func TestFunctionPlaces(t *testing.T) {
	h := newHandler(t, handlers.Config{Engine: playing(t, `models: {m: {replies: [{pieces: [x]}]}, h: {format: hermes, replies: [{pieces: [x]}]}}`)})
	const question = `"messages":[{"role":"user","content":"u"}],`
	for _, tt := range []struct{ name, body, param string }{
		{"a model without calls", `{"model":"m",` + question + `"functions":[{"name":"f"}],"function_call":{"name":"f"}}`, "function_call"},
		{"the same with tools", `{"model":"m",` + question + `"tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":"required"}`, "tool_choice"},
		{"a schema that is none", `{"model":"h",` + question + `"functions":[{"name":"f"},{"name":"g","parameters":{"type":"object","properties":{"a":{"$ref":"#/$defs/none"}}}}]}`, "functions[1].parameters.properties.a"},
		{"the same with tools", `{"model":"h",` + question + `"tools":[{"type":"function","function":{"name":"f"}},{"type":"function","function":{"name":"g","parameters":{"type":"object","properties":{"a":{"$ref":"#/$defs/none"}}}}}]}`,
			"tools[1].function.parameters.properties.a"},
	} {
		for _, stream := range []string{"", `,"stream":true`} {
			w := post(t, h, "/v1/chat/completions", []byte(tt.body[:len(tt.body)-1]+stream+"}"))
			e, _ := errorOf(t, w.Body)
			if w.Code != 400 || !strings.HasPrefix(text(e.Param), tt.param) {
				t.Errorf("%s: status %d, param %q: %s; want 400 at %s", tt.name, w.Code, text(e.Param), e.Message, tt.param)
			}
		}
	}
}
