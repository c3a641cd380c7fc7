package upstream_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const scenes = `
models:
  scripted:
    format: hermes
    context: 64
    embedding: 8
    replies:
      - when: {contains: weather}
        pieces: ["Let me see.", "\n<tool_call>\n", '{"name": "get_weather", "arguments": {"city": "Paris"}}', "\n</tool_call>", "\n<tool_call>\n", '{"name": "get_weather", "arguments": {"city": "Rome"}}', "\n</tool_call>"]
      - when: {contains: think}
        pieces: ["<think>", "Hm, ", "yes.", "</think>", "Yes."]
      - when: {contains: crash}
        pieces: ["Half"]
        finish: crash
      - when: {contains: object}
        pieces: ['{"a": ', '1}']
      - when: {contains: count}
        pieces: ["one ", "two ", "three ", "four"]
        finish: length
      - pieces: ["Good ", "day, ", {base64: "4pw="}, {base64: "kw=="}, " friend."]
  painter:
    image: true
`

const weather = `{"name":"get_weather","description":"d","%s":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}`

// exchanges are requests of both styles. What comes through a second server
// must be what comes from the first.
var exchanges = []struct{ name, path, body string }{
	{"chat", "/v1/chat/completions", `{"model":"scripted","messages":[{"role":"system","content":"s"},{"role":"user","content":"hello"}]}`},
	{"chat with two choices and their tokens", "/v1/chat/completions", `{"model":"scripted","n":2,"logprobs":true,"top_logprobs":1,"messages":[{"role":"user","content":"hello"}]}`},
	{"chat with thoughts", "/v1/chat/completions", `{"model":"scripted","messages":[{"role":"user","content":"think"}]}`},
	{"chat with a limit", "/v1/chat/completions", `{"model":"scripted","max_completion_tokens":2,"messages":[{"role":"user","content":"hello"}]}`},
	{"chat with calls", "/v1/chat/completions", `{"model":"scripted","tools":[{"type":"function","function":` + strings.ReplaceAll(weather, "%s", "parameters") + `}],"messages":[{"role":"user","content":"weather"}]}`},
	{"chat with a result", "/v1/chat/completions", `{"model":"scripted","messages":[{"role":"user","content":"?"},{"role":"assistant","tool_calls":[{"id":"call_1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"call_1","content":"12"}]}`},
	{"chat with a schema", "/v1/chat/completions", `{"model":"scripted","response_format":{"type":"json_schema","json_schema":{"name":"x","schema":{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"],"additionalProperties":false}}},"messages":[{"role":"user","content":"object"}]}`},
	{"chat that is too long", "/v1/chat/completions", `{"model":"scripted","messages":[{"role":"user","content":"` + strings.Repeat("a ", 100) + `"}]}`},
	{"chat with a schema that cannot be", "/v1/chat/completions", `{"model":"scripted","response_format":{"type":"json_schema","json_schema":{"name":"x","schema":{"type":"object","properties":{"a":{"not":{}}}}}},"messages":[{"role":"user","content":"object"}]}`},
	{"chat with a part of a tool that cannot be enforced", "/v1/chat/completions", `{"model":"scripted","tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"a":{"not":{"type":"string"}}}}}}],"messages":[{"role":"user","content":"hello"}]}`},
	{"messages", "/v1/messages", `{"model":"scripted","max_tokens":20,"system":"s","messages":[{"role":"user","content":"hello"}]}`},
	{"messages with thoughts", "/v1/messages", `{"model":"scripted","max_tokens":2000,"thinking":{"type":"enabled","budget_tokens":1024},"messages":[{"role":"user","content":"think"}]}`},
	{"messages with calls", "/v1/messages", `{"model":"scripted","max_tokens":40,"tools":[` + strings.ReplaceAll(weather, "%s", "input_schema") + `],"messages":[{"role":"user","content":"weather"}]}`},
	{"messages with a result", "/v1/messages", `{"model":"scripted","max_tokens":9,"messages":[{"role":"user","content":"?"},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"12","is_error":true}]}]}`},
	{"messages that are too long", "/v1/messages", `{"model":"scripted","max_tokens":9,"messages":[{"role":"user","content":"` + strings.Repeat("a ", 100) + `"}]}`},
	{"a response", "/v1/responses", `{"model":"scripted","input":"hello"}`},
	{"a response with calls", "/v1/responses", `{"model":"scripted","input":"weather","tools":[{"type":"function","strict":false,` + strings.ReplaceAll(weather, "%s", "parameters")[1:] + `]}`},
	{"a completion", "/v1/completions", `{"model":"scripted","prompt":"hello","logprobs":1,"echo":true}`},
	{"a completion of the best", "/v1/completions", `{"model":"scripted","prompt":"hello","best_of":3,"n":2}`},
	{"an unknown model", "/v1/chat/completions", `{"model":"nobody","messages":[{"role":"user","content":"hello"}]}`},
}

// other are requests whose replies are not streamed.
var other = []struct{ name, path, body string }{
	{"embeddings", "/v1/embeddings", `{"model":"scripted","input":["a b","c"],"dimensions":4}`},
	{"embeddings of tokens", "/v1/embeddings", `{"model":"scripted","input":[[1,2],[3]],"encoding_format":"base64"}`},
	{"pictures", "/v1/images/generations", `{"model":"painter","prompt":"a cat","n":2,"size":"64x32"}`},
	{"pictures of a size that cannot be", "/v1/images/generations", `{"model":"painter","prompt":"a cat","size":"9999x9999"}`},
	{"pictures by a model that draws none", "/v1/images/generations", `{"model":"scripted","prompt":"a cat"}`},
}

func TestBothStyles(t *testing.T) {
	near := serving(t, playing(t, scenes))
	far := serving(t, muxOf(t, near, "scripted", "painter"))
	for _, tt := range exchanges {
		t.Run(tt.name, func(t *testing.T) { compare(t, near, far, tt.path, tt.body) })
		t.Run(tt.name+", streamed", func(t *testing.T) {
			compare(t, near, far, tt.path, strings.TrimSuffix(tt.body, "}")+streaming[tt.path])
		})
	}
	for _, tt := range other {
		t.Run(tt.name, func(t *testing.T) { compare(t, near, far, tt.path, tt.body) })
	}
}

var streaming = map[string]string{
	"/v1/chat/completions": `,"stream":true,"stream_options":{"include_usage":true}}`,
	"/v1/completions":      `,"stream":true,"stream_options":{"include_usage":true}}`,
	"/v1/messages":         `,"stream":true}`,
	"/v1/responses":        `,"stream":true}`,
}

func compare(t *testing.T, near, far http.Handler, path, body string) {
	t.Helper()
	want, got := post(t, near, path, body), post(t, far, path, body)
	if want.Code != got.Code {
		t.Errorf("status %d, and %d through the second server", want.Code, got.Code)
	}
	for _, header := range []string{"Content-Type", "Diglot-Ignored", "X-Should-Retry"} {
		if w, g := want.Header().Get(header), got.Header().Get(header); w != g {
			t.Errorf("%s is %q, and %q through the second server", header, w, g)
		}
	}
	if diff := cmp.Diff(digest(t, want), digest(t, got)); diff != "" {
		t.Errorf("(-near +far):\n%s", diff)
	}
}

func post(t *testing.T, h http.Handler, path, body string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body))
	r.Host = "localhost"
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// made are the ids and times that each server makes for itself, and what only
// the one that computes knows where a request leaves it open.
var made = regexp.MustCompile(`"(temperature|top_p|max_output_tokens)":(null|[0-9.]+)|"(id|item_id|call_id|signature|encrypted_content|request_id)":"[^"]*"|"(created|created_at|completed_at)":[0-9.]+`)

// digest is what a reply says: of a stream, its frames. How long the prompt of
// a message is, a diglot tells too late for the first of them; the last one has
// it in any case.
func digest(t *testing.T, w *httptest.ResponseRecorder) []string {
	t.Helper()
	var out, prompt []string
	for line := range linesOf(w.Body.String()) {
		line = made.ReplaceAllString(line, `"made":0`)
		if strings.Contains(line, `"type":"message_start"`) || strings.Contains(line, `"type":"message_delta"`) {
			if m := inputTokens.FindStringSubmatch(line); m != nil && m[1] != "0" {
				prompt = append(prompt, "a prompt of "+m[1])
			}
			line = inputTokens.ReplaceAllString(line, "")
		}
		if line != "" && !strings.HasPrefix(line, ":") {
			out = append(out, line)
		}
	}
	if strings.Contains(w.Body.String(), `"index":1,"delta"`) {
		slices.Sort(out) // the chunks of two choices come in any order
	}
	return append(out, slices.Compact(prompt)...)
}

var inputTokens = regexp.MustCompile(`"input_tokens":(\d+),?`)

func linesOf(text string) func(func(string) bool) {
	return func(yield func(string) bool) {
		in := bufio.NewScanner(strings.NewReader(text))
		in.Buffer(nil, 16<<20)
		for in.Scan() {
			if !yield(in.Text()) {
				return
			}
		}
	}
}

// TestCountTokens has a server below that cannot count.
func TestCountTokens(t *testing.T) {
	far := serving(t, muxOf(t, serving(t, playing(t, scenes)), "scripted"))
	w := post(t, far, "/v1/messages/count_tokens", `{"model":"scripted","messages":[{"role":"user","content":"hello"}]}`)
	var reply struct {
		Type  string
		Error struct{ Type, Message string }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &reply); err != nil {
		t.Fatal(err)
	}
	if w.Code != 400 || reply.Type != "error" || reply.Error.Type != "invalid_request_error" || !strings.Contains(reply.Error.Message, "cannot count tokens") {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
}

// TestCallWithoutArguments has a server that writes nothing for them. Clients read
// them as JSON.
func TestCallWithoutArguments(t *testing.T) {
	below := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, data := range []string{
			`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","function":{"name":"f"}}]}}]}`,
			`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"call_2","function":{"name":"f","arguments":""}}]},"finish_reason":"tool_calls"}]}`, `[DONE]`} {
			_, _ = w.Write([]byte("data: " + data + "\n\n"))
		}
	})
	h := serving(t, over(t, below, "m"))
	const messages = `"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hello"}]}`
	for _, tt := range []struct {
		name, path, body string
		want             string // twice in the reply
	}{
		{"chat", "/v1/chat/completions", `{` + messages, `"arguments":"{}"`},
		{"chat, streamed", "/v1/chat/completions", `{"stream":true,` + messages, `"arguments":"{}"`},
		{"responses", "/v1/responses", `{"model":"m","input":"hello"}`, `"name":"f","arguments":"{}"`},
		{"responses, streamed", "/v1/responses", `{"stream":true,"model":"m","input":"hello"}`, `"delta":"{}"`},
		{"messages", "/v1/messages", `{` + messages, `"input":{}`},
		{"messages, streamed", "/v1/messages", `{"stream":true,` + messages, `"partial_json":"{}"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := post(t, h, tt.path, tt.body).Body.String(); strings.Count(got, tt.want) != 2 {
				t.Errorf("%s is not there twice:\n%s", tt.want, got)
			}
		})
	}
}
