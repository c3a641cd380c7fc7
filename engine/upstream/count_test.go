package upstream

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/engine"
)

// paths of servers, which answer 404 to the others.
var countingServers = map[string]map[string]string{
	"new llama-server": {"/v1/chat/completions/input_tokens": `{"object":"response.input_tokens","input_tokens":7}`, "/tokenize": `{"tokens":[1,2,3]}`},
	"old llama-server": {"/apply-template": `{"prompt":"<u>u<a>"}`, "/tokenize": `{"tokens":[1,2,3]}`},
	"vLLM":             {"/tokenize": `{"count":5,"max_model_len":4096,"tokens":[1,2,3,4,5]}`},
	"a cloud":          {},
	"a page for all":   {"/tokenize": `<html>`, "/v1/chat/completions/input_tokens": `<html>`, "/apply-template": `<html>`},
}

func TestCount(t *testing.T) {
	text := ask("u")
	raw := &engine.Request{Model: "m", Prompt: &engine.Prompt{Text: "p"}, Choices: 1}
	gap := &engine.Request{Model: "m", Prompt: &engine.Prompt{Text: "p", Suffix: "s"}, Choices: 1}
	picture := ask("u")
	picture.Messages[0].Parts = append(picture.Messages[0].Parts, engine.Image{Data: []byte("x")})
	tests := []struct {
		server, name string
		req          *engine.Request
		want         int // 0: it cannot
		paths        string
	}{
		{"new llama-server", "messages", text, 7, "/v1/chat/completions/input_tokens"},
		{"new llama-server", "pictures", picture, 7, "/v1/chat/completions/input_tokens"},
		{"new llama-server", "raw", raw, 3, "/tokenize"},
		{"new llama-server", "a gap", gap, 0, ""},
		{"old llama-server", "messages", text, 3, "/v1/chat/completions/input_tokens /tokenize /apply-template /tokenize"},
		{"old llama-server", "pictures", picture, 0, "/v1/chat/completions/input_tokens"},
		{"vLLM", "messages", text, 5, "/v1/chat/completions/input_tokens /tokenize"},
		{"vLLM", "raw", raw, 5, "/tokenize"},
		{"a cloud", "messages", text, 0, "/v1/chat/completions/input_tokens /tokenize /apply-template"},
		{"a cloud", "raw", raw, 0, "/tokenize"},
		{"a page for all", "messages", text, 0, "/v1/chat/completions/input_tokens /tokenize /apply-template"},
	}
	for _, tt := range tests {
		t.Run(tt.server+", "+tt.name, func(t *testing.T) {
			e, p := serve(t, Config{}, func(w http.ResponseWriter, r *http.Request, _ int) {
				body, ok := countingServers[tt.server][r.URL.Path]
				if strings.HasPrefix(body, "<") {
					w.Header().Set("Content-Type", "text/html")
					_, _ = io.WriteString(w, body)
					return
				}
				if !ok {
					status(w, 404, `{"error":{"message":"File Not Found","type":"not_found_error","code":404}}`)
					return
				}
				status(w, 200, body)
			})
			n, err := e.Count(t.Context(), tt.req)
			var paths []string
			for _, r := range p.all() {
				paths = append(paths, r.path)
			}
			if diff := cmp.Diff(tt.paths, strings.Join(paths, " ")); diff != "" {
				t.Errorf("asks (-want +got):\n%s", diff)
			}
			if tt.want == 0 {
				if got := coded(t, err); got.Code != engine.CodeUnsupported || !strings.Contains(got.Message, "cannot count tokens") {
					t.Errorf("%d, %v", n, err)
				}
				return
			}
			if n != tt.want || err != nil {
				t.Errorf("%d, %v; want %d", n, err, tt.want)
			}
			before := len(p.all())
			if n, err := e.Count(t.Context(), tt.req); n != tt.want || err != nil || len(p.all())-before > 2 {
				t.Errorf("again: %d, %v, with %d requests", n, err, len(p.all())-before)
			}
		})
	}
}

// TestCountBodies checks what is asked: the prompt of a conversation depends
// on its tools, and a raw text has a name for each server.
func TestCountBodies(t *testing.T) {
	e, p := serve(t, Config{}, func(w http.ResponseWriter, r *http.Request, _ int) {
		if r.URL.Path != "/tokenize" {
			status(w, 404, ``)
			return
		}
		status(w, 200, `{"count":1}`)
	})
	req := ask("u")
	req.Tools = []engine.Tool{{Name: "f", Parameters: json.RawMessage(`{}`)}}
	req.Reasoning.Mode = engine.ReasoningOff
	for _, tt := range []struct {
		req  *engine.Request
		want string
	}{
		{req, `{"add_generation_prompt":true,"chat_template_kwargs":{"enable_thinking":false},"reasoning_effort":"none","model":"m","messages":[{"content":"u","role":"user"}],"tools":[{"function":{"name":"f","parameters":{}},"type":"function"}]}`},
		{&engine.Request{Model: "m", Prompt: &engine.Prompt{Text: "p"}}, `{"model":"m","prompt":"p","add_special_tokens":true,"content":"p","add_special":true,"parse_special":true}`},
	} {
		if _, err := e.Count(t.Context(), tt.req); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(sorted(t, tt.want), sorted(t, p.last().body)); diff != "" {
			t.Errorf("body (-want +got):\n%s", diff)
		}
	}
}

// TestCountFailures checks that a server that fails now is asked again later.
func TestCountFailures(t *testing.T) {
	e, p := serve(t, Config{}, func(w http.ResponseWriter, _ *http.Request, n int) {
		if n == 1 {
			status(w, 500, ``)
			return
		}
		status(w, 200, `{"input_tokens":7}`)
	})
	if _, err := e.Count(t.Context(), ask("u")); coded(t, err).Code != engine.CodeEngineCrashed {
		t.Errorf("%v", err)
	}
	if n, err := e.Count(t.Context(), ask("u")); n != 7 || err != nil || len(p.all()) != 2 {
		t.Errorf("%d, %v after %d requests", n, err, len(p.all()))
	}
}

func TestLogprobs(t *testing.T) {
	e, _ := serve(t, Config{}, func(w http.ResponseWriter, r *http.Request, _ int) {
		if r.URL.Path == "/v1/completions" {
			stream(w, `{"choices":[{"index":0,"text":"pé","logprobs":{"tokens":["p","bytes:\\xc3","bytes:\\xa9"],"token_logprobs":[null,-1,-2],"top_logprobs":[null,{"bytes:\\xc3":-1,"x":-0.5},{"y":-3}]},"finish_reason":"stop"}]}`, done)
			return
		}
		stream(w, `{"choices":[{"index":0,"delta":{},"logprobs":{"content":[{"token":"\ufffd","bytes":[195],"logprob":-1,"top_logprobs":[]}]}}]}`,
			`{"choices":[{"index":0,"delta":{"content":"é!"},"logprobs":{"content":[{"token":"\ufffd","bytes":[169],"logprob":-2,"top_logprobs":[]},{"token":"!","bytes":null,"logprob":0.0001,"top_logprobs":[{"token":"?","logprob":-3,"bytes":[63]},{"token":".","logprob":-4}]}]}}]}`,
			end("stop"), done)
	})
	for _, tt := range []struct{ name, want string }{
		{"chat", `"\xc3"=-1 "\xa9"=-2 "!"=0 ["?"=-3]`},
		{"raw", `"p"=NaN "\xc3"=-1 ["x"=-0.5] "\xa9"=-2 ["y"=-3]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			req := ask("u")
			req.Logprobs = new(1)
			if tt.name == "raw" {
				req.Messages, req.Prompt = nil, &engine.Prompt{Text: "p", Echo: true}
			}
			events, err := gather(t.Context(), e, req)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, event := range events {
				if d, ok := event.(engine.TextDelta); ok {
					got = append(got, showTokens(d.Logprobs))
				}
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("tokens (-want +got):\n%s", diff)
			}
		})
	}
}
