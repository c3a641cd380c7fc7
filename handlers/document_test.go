package handlers_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/diglot/diglot/handlers"
	"github.com/diglot/diglot/handlers/handlerstest"
	"github.com/diglot/diglot/openapi"
	"github.com/diglot/diglot/openapi/conformance"
)

// examples reach every kind of message, part and tool with rules beyond the schema. A field
// is tested in the first example that reaches it, so what depends on another field comes
// after an example without that field. If a call is required, the last text is "call": see
// testdata/storm.yaml.
var examples = map[string][]string{
	"createChatCompletion": {
		`{
			"model": "m",
			"messages": [
				{"role": "system", "content": "s"},
				{"role": "developer", "content": [{"type": "text", "text": "d"}]},
				{"role": "user", "content": [
					{"type": "text", "text": "u"},
					{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]},
				{"role": "assistant",
				 "content": [{"type": "text", "text": "a"}, {"type": "refusal", "refusal": "r"}],
				 "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}
			],
			"tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
			"response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}}},
			"logit_bias": {"1": 1}, "logprobs": true
		}`, `{
			"model": "m",
			"messages": [
				{"role": "user", "content": "u"},
				{"role": "assistant", "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
				{"role": "tool", "tool_call_id": "call_1", "content": "r"},
				{"role": "user", "content": "call"}
			],
			"tools": [{"type": "function", "function": {"name": "f"}}],
			"tool_choice": {"type": "function", "function": {"name": "f"}},
			"logprobs": true, "top_logprobs": 1
		}`, `{
			"model": "m",
			"messages": [{"role": "user", "content": "u"}],
			"tools": [{"type": "function", "function": {"name": "f"}}],
			"tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [{"type": "function", "function": {"name": "f"}}]}}
		}`, `{
			"model": "m",
			"messages": [
				{"role": "user", "content": "u"},
				{"role": "assistant", "function_call": {"name": "f", "arguments": "{}"}},
				{"role": "function", "name": "f", "content": "r"}
			],
			"functions": [{"name": "f", "parameters": {"type": "object"}}]
		}`, `{
			"model": "m",
			"messages": [{"role": "user", "content": "call"}],
			"functions": [{"name": "f"}],
			"function_call": {"name": "f"}
		}`,
	},
	"createResponse": {`{
		"model": "m",
		"instructions": "i",
		"input": [
			{"role": "developer", "content": "d"},
			{"type": "message", "role": "user", "content": [
				{"type": "input_text", "text": "u"},
				{"type": "input_image", "image_url": "data:image/png;base64,AAAA"}]},
			{"type": "reasoning", "summary": [{"type": "summary_text", "text": "t"}], "content": [{"type": "reasoning_text", "text": "t"}]},
			{"type": "message", "role": "assistant", "content": [
				{"type": "output_text", "text": "a", "annotations": [{}], "logprobs": [{}]},
				{"type": "refusal", "refusal": "r"}]},
			{"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}"},
			{"type": "function_call_output", "call_id": "call_1", "output": [
				{"type": "input_text", "text": "r"},
				{"type": "input_image", "image_url": "data:image/png;base64,AAAA"}]}
		],
		"tools": [{"type": "function", "name": "f", "parameters": {"type": "object"}}],
		"text": {"format": {"type": "json_schema", "name": "n", "schema": {"type": "object"}}},
		"reasoning": {"effort": "low", "summary": "auto"},
		"include": ["message.output_text.logprobs"], "metadata": {"a": "b"}, "stream_options": {}
	}`, `{
		"model": "m", "input": "call",
		"tools": [{"type": "function", "name": "f"}],
		"tool_choice": {"type": "function", "name": "f"}
	}`, `{
		"model": "m", "input": "u",
		"tools": [{"type": "function", "name": "f"}],
		"tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "f"}]}
	}`},
	"createCompletion":   completionExamples,
	"createMessage":      messageExamples,
	"countMessageTokens": messageExamples, // max_tokens is one of the members without effect
}

var messageExamples = []string{
	`{
		"model": "m", "max_tokens": 8,
		"system": [{"type": "text", "text": "s"}],
		"messages": [
			{"role": "user", "content": [
				{"type": "text", "text": "u"},
				{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}]},
			{"role": "system", "content": [{"type": "text", "text": "s"}], "clear_at": "never", "output_config": {"effort": "low"}},
			{"role": "assistant", "content": [
				{"type": "thinking", "thinking": "t", "signature": ""},
				{"type": "redacted_thinking", "data": "x"},
				{"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}]},
			{"role": "user", "content": [
				{"type": "tool_result", "tool_use_id": "toolu_1", "content": [
					{"type": "text", "text": "r"},
					{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}]}]}
		],
		"tools": [{"name": "f", "input_schema": {"type": "object"}}],
		"output_config": {"effort": "low", "format": {"type": "json_schema", "schema": {"type": "object"}}}
	}`, `{
		"model": "m", "max_tokens": 8,
		"messages": [
			{"role": "user", "content": [{"type": "image", "source": {"type": "url", "url": "PICTURE"}}]},
			{"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}]},
			{"role": "user", "content": [
				{"type": "tool_result", "tool_use_id": "toolu_1", "content": [
					{"type": "image", "source": {"type": "url", "url": "PICTURE"}}]}]}
		]
	}`, `{
		"model": "m", "max_tokens": 8,
		"messages": [{"role": "user", "content": "call"}],
		"tools": [{"name": "f", "input_schema": {"type": "object"}}],
		"tool_choice": {"type": "tool", "name": "f"}
	}`,
}

// examplesOf lists the examples of an operation, with an image URL that can be fetched.
func examplesOf(t *testing.T, id string) (bodies []string) {
	t.Helper()
	for _, text := range examples[id] {
		if strings.Contains(text, "PICTURE") {
			text = strings.ReplaceAll(text, "PICTURE", servePicture(t))
		}
		bodies = append(bodies, text)
	}
	return bodies
}

// servePicture serves an image from this machine, and returns its URL.
func servePicture(t *testing.T) string {
	t.Helper()
	picture, err := base64.StdEncoding.DecodeString(pixel)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "image/png")
		w.Write(picture)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/pixel.png"
}

// pictureHost is the host of such URLs.
const pictureHost = "127.0.0.1"

func documents(t *testing.T) []*openapi.Document {
	t.Helper()
	var all []*openapi.Document
	for _, load := range []func() (*openapi.Document, error){openapi.OpenAI, openapi.Anthropic} {
		d, err := load()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, d)
	}
	return all
}

// TestEveryField walks the documents: an invalid value of a field is a 400 that names the
// field, a value without effect is a 200 that names it in Diglot-Ignored, in both profiles.
func TestEveryField(t *testing.T) {
	for _, profile := range []openapi.Profile{openapi.ProfileDefault, openapi.ProfileDocument} {
		h := newHandler(t, handlers.Config{Profile: profile, AllowImageHosts: []string{pictureHost}, Engine: &handlerstest.Engine{Name: "m", Events: handlerstest.Text("x")}})
		for _, document := range documents(t) {
			document, err := document.Narrow(profile)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range document.Operations() {
				if o.Mark.Server == openapi.SupportRefused {
					continue // not found as a whole: TestPaths, TestProfiles
				}
				for _, c := range casesOf(t, o, profile) {
					t.Run(string(profile)+"/"+o.ID+"/"+c.Name, func(t *testing.T) {
						checkCase(t, post(t, h, o.Path, c.Body), c)
					})
				}
			}
		}
	}
}

func casesOf(t *testing.T, o *openapi.Operation, profile openapi.Profile) []conformance.Case {
	t.Helper()
	var bodies [][]byte
	for _, text := range examplesOf(t, o.ID) {
		if _, v := o.Check([]byte(text)); v != nil && profile == openapi.ProfileDefault {
			t.Fatalf("the example of %s: %v", o.ID, v)
		}
		bodies = append(bodies, []byte(text))
	}
	cases, err := conformance.Cases(o, bodies...)
	if err != nil {
		t.Fatal(err)
	}
	return cases
}

func checkCase(t *testing.T, w *httptest.ResponseRecorder, c conformance.Case) {
	t.Helper()
	switch c.Want {
	case conformance.WantInvalid:
		if w.Code != 400 {
			t.Fatalf("status %d, want 400\n%s\n%s", w.Code, c.Body, w.Body)
		}
		if !namesPlace(w.Body.Bytes(), c.Pointer) {
			t.Errorf("the error does not name %v\n%s", c.Pointer, w.Body)
		}
		if c.Rule == openapi.RuleEnum && !regexp.MustCompile(`must be \w.*; \\"no_such_value\\" was sent`).Match(w.Body.Bytes()) {
			t.Errorf("the error does not say what was sent beside what is possible\n%s", w.Body)
		}
	case conformance.WantIgnored:
		if w.Code != 200 {
			t.Fatalf("status %d, want 200\n%s\n%s", w.Code, c.Body, w.Body)
		}
		if got := w.Header().Get("Diglot-Ignored"); !strings.Contains(", "+got+",", ", "+c.Ignored+",") {
			t.Errorf("Diglot-Ignored is %q, want %q in it", got, c.Ignored)
		}
	case conformance.WantNothing:
		if w.Code != 200 {
			t.Fatalf("status %d, want 200\n%s\n%s", w.Code, c.Body, w.Body)
		}
	}
}

// namesPlace reads both envelopes: one has a param, the other begins its message with the
// path.
func namesPlace(body []byte, pointer []string) bool {
	var e struct {
		Error struct {
			Message string  `json:"message"`
			Param   *string `json:"param"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &e) != nil {
		return false
	}
	v := openapi.Violation{Pointer: pointer}
	if e.Error.Param != nil && *e.Error.Param == v.Param() {
		return true
	}
	return len(pointer) == 0 || strings.HasPrefix(e.Error.Message, v.Path()+": ")
}
