package upstream

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/diglot/diglot/engine"
)

func TestRefusals(t *testing.T) {
	const secret = "sk-very-secret"
	tests := []struct {
		name   string
		status int
		body   string
		header string // Retry-After
		want   engine.Error
		says   string // part of the message; the message of the server is boom
		tries  int
	}{
		{"a wrong value", 400, `{"error":{"message":"boom","type":"invalid_request_error","param":"tools[1].function.parameters.a","code":null}}`, "",
			engine.Error{Code: engine.CodeInvalidArgument, Place: engine.Place{Field: engine.FieldTools, Index: 1, Path: "/a"}}, "boom", 1},
		{"an unsupported value", 400, `{"error":{"message":"boom","code":"unsupported_value","param":"tool_choice"}}`, "",
			engine.Error{Code: engine.CodeUnsupported, Place: engine.Place{Field: engine.FieldToolChoice}}, "boom", 1},
		{"a message with the key", 400, `{"error":{"message":"boom ` + secret + `"}}`, "", engine.Error{Code: engine.CodeInvalidArgument}, "boom [key]", 1},
		{"no envelope", 422, `{"object":"error","message":"boom","code":422,"param":null}`, "", engine.Error{Code: engine.CodeInvalidArgument}, "boom", 1},
		{"an error that is a text", 400, `{"error":"boom"}`, "", engine.Error{Code: engine.CodeInvalidArgument}, "boom", 1},
		{"a detail", 422, `{"detail":"boom"}`, "", engine.Error{Code: engine.CodeInvalidArgument}, "boom", 1},
		{"a list", 400, `[{"error":{"message":"boom","code":400}}]`, "", engine.Error{Code: engine.CodeInvalidArgument}, "boom", 1},
		{"no JSON", 400, `<h1>Bad Request</h1>`, "", engine.Error{Code: engine.CodeInvalidArgument}, "rejected the request", 1},
		{"no key", 401, `{"error":{"message":"boom"}}`, "", engine.Error{Code: engine.CodeInternal, NoRetry: true}, "diglot login ", 1},
		{"a wrong key", 403, `{"error":{"message":"boom"}}`, "", engine.Error{Code: engine.CodeInternal, NoRetry: true}, "diglot login ", 1},
		{"no money", 429, `{"error":{"message":"boom","code":"insufficient_quota"}}`, "", engine.Error{Code: engine.CodeInternal, NoRetry: true}, "no credit left", 1},
		{"no model", 404, `{"error":{"message":"boom"}}`, "", engine.Error{Code: engine.CodeModelNotFound, Place: engine.Place{Field: engine.FieldModel}}, `"m" does not exist on `, 1},
		{"no model, as a wrong value", 400, `{"error":{"message":"boom","code":"model_not_found"}}`, "",
			engine.Error{Code: engine.CodeModelNotFound, Place: engine.Place{Field: engine.FieldModel}}, `"m" does not exist on `, 1},
		{"too large", 413, `<h1>boom</h1>`, "", engine.Error{Code: engine.CodeTooLarge}, "too large for", 1},
		{"nothing", 204, ``, "", engine.Error{Code: engine.CodeEngineCrashed, NoRetry: true}, "invalid reply", 1},
		{"later", 202, `{}`, "", engine.Error{Code: engine.CodeEngineCrashed, NoRetry: true}, "invalid reply", 1},
		{"elsewhere", 307, ``, "", engine.Error{Code: engine.CodeEngineCrashed, NoRetry: true}, "redirects", 1},
		{"too many requests", 429, `{"error":{"message":"boom"}}`, "2", engine.Error{Code: engine.CodeOverloaded, RetryAfter: 2}, "overloaded", 3},
		{"too many requests for long", 429, `{"error":{"message":"boom"}}`, "60", engine.Error{Code: engine.CodeOverloaded, RetryAfter: 60}, "overloaded", 1},
		{"loading", 503, `{"error":{"message":"boom"}}`, "", engine.Error{Code: engine.CodeOverloaded}, "overloaded", 3},
		{"a gateway", 502, `boom`, "", engine.Error{Code: engine.CodeEngineCrashed}, "cannot be reached", 3},
		{"a gateway that waits", 504, `boom`, "", engine.Error{Code: engine.CodeDeadline}, "too long", 3},
		{"broken", 500, `{"error":{"message":"boom"}}`, "", engine.Error{Code: engine.CodeEngineCrashed}, "server failed", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, p := serve(t, Config{Key: func() (string, error) { return secret, nil }}, func(w http.ResponseWriter, _ *http.Request, _ int) {
				if tt.header != "" {
					w.Header().Set("Retry-After", tt.header)
				}
				w.Header().Set("Location", "https://elsewhere.example/v1/chat/completions")
				status(w, tt.status, tt.body)
			})
			events, err := gather(t.Context(), e, ask("u"))
			got := coded(t, err)
			if len(events) > 0 || got.Code != tt.want.Code || got.Place != tt.want.Place || got.NoRetry != tt.want.NoRetry || got.RetryAfter != tt.want.RetryAfter {
				t.Errorf("events %s, error %+v; want %+v", show(events), got, tt.want)
			}
			if !strings.Contains(got.Message, tt.says) || strings.Contains(got.Message, "boom") != strings.Contains(tt.says, "boom") {
				t.Errorf("message %q, want one with %q", got.Message, tt.says)
			}
			if strings.Contains(got.Error(), secret) {
				t.Errorf("the key is in the error: %v", got)
			}
			if n := len(p.all()); n != tt.tries || len(p.waits) != tt.tries-1 {
				t.Errorf("%d tries with waits %v, want %d", n, p.waits, tt.tries)
			}
			for _, d := range p.waits {
				if tt.header == "2" && d != 2*time.Second || d <= 0 {
					t.Errorf("waits %v", p.waits)
				}
			}
			for _, r := range p.all() {
				if r.header.Get("Authorization") != "Bearer "+secret {
					t.Errorf("headers %v", r.header)
				}
			}
		})
	}
}

func TestContextLength(t *testing.T) {
	tests := []struct {
		name, body    string
		tokens, limit int
		field         engine.Field
	}{
		{"OpenAI", `{"error":{"message":"This model's maximum context length is 4096 tokens. However, your messages resulted in 5000 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, 5000, 4096, engine.FieldMessages},
		{"diglot", `{"error":{"message":"The prompt is too long: it has 5000 tokens, and the model m2.5 takes at most 4096 for prompt and answer together.","code":"context_length_exceeded","param":null}}`, 5000, 4096, engine.FieldMessages},
		{"vLLM", `{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5100 tokens (5000 in the messages, 100 in the completion).","type":"BadRequestError","code":400}`, 5100, 4096, engine.FieldMessages},
		{"vLLM, newer", `{"error":{"message":"The decoder prompt (length 5000) is longer than the maximum context length of 4096. Make sure...","type":"BadRequestError","code":400}}`, 5000, 4096, engine.FieldMessages},
		{"SGLang", `{"object":"error","message":"The input (5000 tokens) is longer than the model's context length (4096 tokens).","code":400}`, 5000, 4096, engine.FieldMessages},
		{"llama-server", `{"error":{"code":400,"message":"request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":5000,"n_ctx":4096}}`, 5000, 4096, engine.FieldMessages},
		{"no numbers", `{"error":{"message":"too long","code":"context_length_exceeded"}}`, 0, 0, engine.FieldMessages},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, _ := serve(t, Config{}, func(w http.ResponseWriter, _ *http.Request, _ int) { status(w, 400, tt.body) })
			_, err := gather(t.Context(), e, ask("u"))
			got := coded(t, err)
			if got.Code != engine.CodeContextLength || got.Tokens != tt.tokens || got.Limit != tt.limit || got.Place.Field != tt.field || got.Message == "" {
				t.Errorf("%+v, want %d of %d", got, tt.tokens, tt.limit)
			}
		})
	}
}

func TestPlaces(t *testing.T) {
	tests := map[string]engine.Place{
		"":                             {},
		"model":                        {Field: engine.FieldModel},
		"messages[3].content":          {Field: engine.FieldMessages, Index: 3},
		"input[2]":                     {Field: engine.FieldInput, Index: 2},
		"input[-2]":                    {Field: engine.FieldInput},
		"input[x]":                     {Field: engine.FieldInput},
		"tools[1].function.name":       {Field: engine.FieldTools, Index: 1},
		"tools[1].function.parameters": {Field: engine.FieldTools, Index: 1},
		"max_completion_tokens":        {Field: engine.FieldMaxTokens},
		"temperature":                  {},
		"response_format.json_schema.schema.properties.a/b~c": {Field: engine.FieldFormat, Path: "/properties/a~1b~0c"},
	}
	for param, want := range tests {
		if got := place(param); got != want {
			t.Errorf("place(%q) = %+v, want %+v", param, got, want)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	tests := map[string]time.Duration{"": 0, "3": 3 * time.Second, "0.5": 500 * time.Millisecond, "-1": 0, "soon": 0, "NaN": 0,
		"1e300": maxDelay, "1e999": maxDelay, "Inf": maxDelay, "86401": maxDelay, "Fri, 31 Dec 9999 23:59:59 GMT": maxDelay,
		"Fri, 31 Dec 1999 23:59:59 GMT": 0}
	for value, want := range tests {
		if got := retryAfter(value); got != want {
			t.Errorf("retryAfter(%q) = %v, want %v", value, got, want)
		}
	}
}

func TestPauseInWords(t *testing.T) {
	tests := map[string]time.Duration{
		"Please try again in 7.5s. Visit us.":              7500 * time.Millisecond,
		"Please try again in 500ms.":                       500 * time.Millisecond,
		"Try again in 2m30s":                               2 * time.Minute,
		"Please retry after 9 seconds.":                    9 * time.Second,
		"Please try again later":                           0,
		"Please try again in 100000000ms":                  maxDelay,
		"Please try again in 90000000ms":                   maxDelay,
		"Please try again in 86400000ms":                   maxDelay,
		"Please try again in 999999 m":                     maxDelay,
		"Please try again in 99999999999999999999999999 m": maxDelay,
	}
	for message, want := range tests {
		if got := parseRefusal([]byte(`{"error":{"message":"`+message+`"}}`), "").after; got != want {
			t.Errorf("%q: %v, want %v", message, got, want)
		}
	}
}
