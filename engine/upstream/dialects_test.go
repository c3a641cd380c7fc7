package upstream

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine"
)

// dialects are errors as servers write them.
var dialects = []struct {
	server, value string
	code          engine.Code
	tokens, limit int
	after         int // seconds
}{
	{"OpenAI, a failure", `{"error":{"message":"The server had an error while processing your request.","type":"server_error","param":null,"code":null}}`, engine.CodeEngineCrashed, 0, 0, 0},
	{"OpenAI, too long", `{"error":{"message":"This model's maximum context length is 4096 tokens. However, your messages resulted in 5000 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, engine.CodeContextLength, 5000, 4096, 0},
	{"OpenAI, a rate", `{"error":{"message":"Rate limit reached for gpt in organization org on tokens per min.","type":"tokens","param":null,"code":"rate_limit_exceeded"}}`, engine.CodeOverloaded, 0, 0, 0},
	{"OpenAI, no money", `{"error":{"message":"You exceeded your current quota.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`, engine.CodeInternal, 0, 0, 0},
	{"OpenAI, a value", `{"error":{"message":"Invalid value: 'x'.","type":"invalid_request_error","param":"messages[0].role","code":"invalid_value"}}`, engine.CodeInvalidArgument, 0, 0, 0},
	{"diglot, too long", `{"error":{"message":"The prompt is too long: it has 5000 tokens, and the model m takes at most 4096 for prompt and answer together.","type":"invalid_request_error","code":"context_length_exceeded","param":null}}`, engine.CodeContextLength, 5000, 4096, 0},
	{"diglot, a crash", `{"error":{"message":"The model's process has ended.","type":"server_error","code":"engine_crashed","param":null}}`, engine.CodeEngineCrashed, 0, 0, 0},
	{"Azure, a failure", `{"error":{"code":"InternalServerError","message":"The server had an error."}}`, engine.CodeEngineCrashed, 0, 0, 0},
	{"Azure, a rate", `{"error":{"code":"429","message":"Requests have exceeded call rate limit. Please retry after 9 seconds."}}`, engine.CodeOverloaded, 0, 0, 9},
	{"vLLM", `{"error":{"message":"The decoder prompt (length 5000) is longer than the maximum model length of 4096.","type":"BadRequestError","param":null,"code":400}}`, engine.CodeContextLength, 5000, 4096, 0},
	{"vLLM, a dead engine", `{"error":{"message":"EngineCore encountered an issue.","type":"InternalServerError","param":null,"code":500}}`, engine.CodeEngineCrashed, 0, 0, 0},
	{"vLLM, older", `{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5100 tokens (5000 in the messages, 100 in the completion).","type":"BadRequestError","param":null,"code":400}`, engine.CodeContextLength, 5100, 4096, 0},
	{"SGLang", `{"error":{"object":"error","message":"Requested token count exceeds the model's maximum context length of 4096 tokens. You requested a total of 5100 tokens: 5000 tokens from the input messages and 100 tokens for the completion.","type":"BadRequestError","param":null,"code":400}}`, engine.CodeContextLength, 5100, 4096, 0},
	{"SGLang, without an envelope", `{"object":"error","message":"The input (5000 tokens) is longer than the model's context length (4096 tokens).","code":400}`, engine.CodeContextLength, 5000, 4096, 0},
	{"SGLang, aborted", `{"error":{"message":"The request queue is full.","type":"service_unavailable","code":503}}`, engine.CodeOverloaded, 0, 0, 0},
	{"llama-server", `{"error":{"code":400,"message":"request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":5000,"n_ctx":4096}}`, engine.CodeContextLength, 5000, 4096, 0},
	{"llama-server, without an envelope", `{"code":500,"message":"Compute error.","type":"server_error"}`, engine.CodeEngineCrashed, 0, 0, 0},
	{"llama-server, loading", `{"error":{"message":"Loading model","type":"unavailable_error","code":503}}`, engine.CodeOverloaded, 0, 0, 0},
	{"llama-cpp-python", `{"error":{"message":"Requested tokens (5000) exceed context window of 4096","type":"internal_server_error","param":null,"code":null}}`, engine.CodeContextLength, 5000, 4096, 0},
	{"Ollama", `{"error":{"message":"an error was encountered while running the model: CUDA error","type":"api_error","param":null,"code":null}}`, engine.CodeEngineCrashed, 0, 0, 0},
	{"Ollama, its own style", `{"error":"llama runner process has terminated: exit status 2"}`, engine.CodeEngineCrashed, 0, 0, 0},
	{"LM Studio", `{"error":"The model has crashed without additional information. (Exit code: 6)"}`, engine.CodeEngineCrashed, 0, 0, 0},
	{"LM Studio, too long", `{"error":{"message":"Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough."}}`, engine.CodeContextLength, 5000, 4096, 0},
	{"LiteLLM", `{"error":{"message":"litellm.RateLimitError: RateLimitError: OpenAIException - slow down","type":"throttling_error","param":"None","code":"429"}}`, engine.CodeOverloaded, 0, 0, 0},
	{"LiteLLM, a value", `{"error":{"message":"litellm.BadRequestError: no","type":"None","param":"None","code":"400"}}`, engine.CodeInvalidArgument, 0, 0, 0},
	{"LiteLLM, too long", `{"error":{"message":"litellm.ContextWindowExceededError: too long","type":null,"param":null,"code":"400"}}`, engine.CodeContextLength, 0, 0, 0},
	{"TGI", `{"error":"Request failed during generation: Server error: CUDA out of memory","error_type":"generation"}`, engine.CodeEngineCrashed, 0, 0, 0},
	{"TGI, too long", "{\"error\":\"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 100 `max_new_tokens`\",\"error_type\":\"validation\"}", engine.CodeContextLength, 5000, 4096, 0},
	{"TGI, a status", `{"error":{"message":"Model is overloaded","http_status_code":429,"type":"overloaded"}}`, engine.CodeOverloaded, 0, 0, 0},
	{"Hugging Face, loading", `{"error":"Model m is currently loading","estimated_time":20.5}`, engine.CodeOverloaded, 0, 0, 21},
	{"Hugging Face, a list", `{"error":["Error in parameters.top_k: must be at least 1"]}`, engine.CodeEngineCrashed, 0, 0, 0},
	{"OpenRouter", `{"id":"gen-1","object":"chat.completion.chunk","error":{"code":"server_error","message":"Provider disconnected unexpectedly"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}`, engine.CodeEngineCrashed, 0, 0, 0},
	{"OpenRouter, a rate", `{"error":{"code":429,"message":"Provider returned error","metadata":{"provider_name":"P","raw":"{\"error\":{\"message\":\"slow down\"}}"}}}`, engine.CodeOverloaded, 0, 0, 0},
	{"OpenRouter, too long", `{"error":{"code":400,"message":"Provider returned error","metadata":{"raw":"{\"error\":{\"message\":\"This endpoint's maximum context length is 4096 tokens. However, you requested about 5000 tokens\"}}"}}}`, engine.CodeContextLength, 5000, 4096, 0},
	{"Groq", `{"error":{"message":"Please reduce the length of the messages or completion.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, engine.CodeContextLength, 0, 0, 0},
	{"Groq, a call", `{"error":{"message":"Failed to call a function.","type":"invalid_request_error","code":"tool_use_failed","failed_generation":"x","status_code":400}}`, engine.CodeInvalidArgument, 0, 0, 0},
	{"Groq, within a chunk", `{"id":"c","choices":[{"index":0,"delta":{}}],"x_groq":{"id":"r","error":"over capacity"}}`, engine.CodeEngineCrashed, 0, 0, 0},
	{"Together", `{"id":"x","error":{"message":"The server is overloaded","type":"service_unavailable","param":null,"code":null}}`, engine.CodeOverloaded, 0, 0, 0},
	{"Gemini, a list", `[{"error":{"code":429,"message":"Resource has been exhausted.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"17s"}]}}]`, engine.CodeOverloaded, 0, 0, 17},
	{"Gemini, too long", `[{"error":{"code":400,"message":"The input token count (5000) exceeds the maximum number of tokens allowed (4096).","status":"INVALID_ARGUMENT"}}]`, engine.CodeContextLength, 5000, 4096, 0},
	{"Gemini, full", `{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}`, engine.CodeOverloaded, 0, 0, 0},
	{"Anthropic", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_1"}`, engine.CodeOverloaded, 0, 0, 0},
	{"Anthropic, too long", `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 5000 tokens > 4096 maximum"}}`, engine.CodeContextLength, 5000, 4096, 0},
	{"Mistral", `{"object":"error","message":"Prompt contains 5000 tokens and 0 draft tokens, too large for model with 4096 maximum context length","type":"invalid_request_prompt","param":null,"code":"3051"}`, engine.CodeContextLength, 5000, 4096, 0},
	{"Mistral, a rate", `{"message":"Requests rate limit exceeded","type":"rate_limited","code":"1300"}`, engine.CodeOverloaded, 0, 0, 0},
	{"DeepSeek", `{"error":{"message":"Authentication Fails","type":"authentication_error","param":null,"code":"invalid_request_error"}}`, engine.CodeInternal, 0, 0, 0},
	{"xAI", `{"code":"Client specified an invalid argument","error":"This model's maximum prompt length is 4096 but the request contains 5000 tokens."}`, engine.CodeContextLength, 5000, 4096, 0},
	{"Fireworks", `{"error":{"object":"error","type":"invalid_request_error","code":"invalid_request_error","message":"The prompt is too long: 5000, model maximum context length: 4096"}}`, engine.CodeContextLength, 5000, 4096, 0},
	{"Cerebras", `{"message":"Please reduce the length of the messages or completion. Current length is 5000 while limit is 4096","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}`, engine.CodeContextLength, 5000, 4096, 0},
	{"MiniMax", `{"base_resp":{"status_code":1002,"status_msg":"rate limit"},"choices":null}`, engine.CodeOverloaded, 0, 0, 0},
	{"Bedrock", `{"message":"Input is too long for requested model."}`, engine.CodeContextLength, 0, 0, 0},
	{"Bedrock, a rate", `{"message":"Too many requests, please wait before trying again.","type":"ThrottlingException"}`, engine.CodeOverloaded, 0, 0, 0},
	{"Cloudflare", `{"result":null,"success":false,"errors":[{"code":3040,"message":"Capacity temporarily exceeded, please try again."}],"messages":[]}`, engine.CodeEngineCrashed, 0, 0, 0},
	{"FastAPI", `{"detail":"Internal Server Error"}`, engine.CodeEngineCrashed, 0, 0, 0},
	{"FastAPI, what is wrong", `{"detail":[{"type":"value_error","loc":["body","messages",0,"content"],"msg":"Value error, no","input":{}}]}`, engine.CodeInvalidArgument, 0, 0, 0},
	{"FastAPI, an object", `{"detail":{"error":{"message":"slow down","code":429,"retry_after":3}}}`, engine.CodeOverloaded, 0, 0, 3},
	{"Spring", `{"timestamp":"2026-01-01T00:00:00Z","status":503,"error":"Service Unavailable","path":"/v1/chat/completions"}`, engine.CodeOverloaded, 0, 0, 0},
	{"a gateway (problem+json)", `{"type":"about:blank","title":"Gateway Timeout","status":504}`, engine.CodeDeadline, 0, 0, 0},
	{"Kong", `{"message":"API rate limit exceeded"}`, engine.CodeOverloaded, 0, 0, 0},
	{"a text in JSON", `"Internal Server Error"`, engine.CodeEngineCrashed, 0, 0, 0},
	{"a text", `Internal Server Error`, engine.CodeEngineCrashed, 0, 0, 0},
	{"a text of a rate", `Too Many Requests`, engine.CodeOverloaded, 0, 0, 0},
	{"an error that is a text of JSON", `{"error":"{\"message\":\"slow down\",\"code\":429}"}`, engine.CodeOverloaded, 0, 0, 0},
}

// TestErrorsInLists looks no further than into one list: the time for more would
// be that of the levels times the length, and both are the server's to choose.
func TestErrorsInLists(t *testing.T) {
	const failed = `{"error":"x"}`
	for value, want := range map[string]bool{
		"[" + failed + "]":   true,
		"[[" + failed + "]]": false,
		"[ [ \"x\" ] ]":      false,
		strings.Repeat("[", 9000) + failed + strings.Repeat("]", 9000): false,
	} {
		if got := isErrorValue([]byte(value)); got != want {
			t.Errorf("%.40s: %v, want %v", value, got, want)
		}
	}
}

// TestErrorDialects sends each error with status 200, at each place where
// servers are known to do so. It is never the end of an answer, and it is what
// it would have been by status.
func TestErrorDialects(t *testing.T) {
	chunk := "data: " + says(`"content":"a"`) + "\n\n"
	places := []struct {
		name, kind string
		write      func(value string) string
		begun      bool
		json       bool // a text that is no JSON cannot stand there
	}{
		{"first", "text/event-stream", func(v string) string { return "data: " + v + "\n\n" }, false, false},
		{"first, and the mark of the end", "text/event-stream", func(v string) string { return ": hi\n\ndata: " + v + "\n\ndata: [DONE]\n\n" }, false, false},
		{"first, by name", "text/event-stream", func(v string) string { return "event: error\ndata: " + v + "\n\n" }, false, false},
		{"alone", "application/json", func(v string) string { return v }, false, true},
		{"alone, as a stream", "text/event-stream", func(v string) string { return "\n" + v + "\n\ndata: [DONE]\n\n" }, false, true},
		{"alone, as a text", "text/plain", func(v string) string { return v + "\n" }, false, true},
		{"under way", "text/event-stream", func(v string) string { return chunk + "data: " + v + "\n\n" }, true, false},
		{"under way, and the mark of the end", "text/event-stream", func(v string) string { return chunk + "data: " + v + "\n\ndata: [DONE]\n\n" }, true, false},
		{"under way, by name", "text/event-stream", func(v string) string { return chunk + "event: error\ndata: " + v + "\n\ndata: [DONE]\n\n" }, true, false},
		{"under way, by field", "text/event-stream", func(v string) string { return chunk + "error: " + v + "\n\n" }, true, false},
		{"under way, in the same frame", "text/event-stream", func(v string) string { return strings.TrimSuffix(chunk, "\n") + "data: " + v + "\n\ndata: [DONE]\n\n" }, true, false},
		{"under way, without a line end", "text/event-stream", func(v string) string { return chunk + "data: " + v }, true, true},
	}
	for _, tt := range dialects {
		for _, place := range places {
			isJSON := strings.ContainsAny(tt.value[:1], "{[")
			if place.json && !isJSON {
				continue
			}
			t.Run(tt.server+"/"+place.name, func(t *testing.T) {
				e, _ := serve(t, Config{Tries: 1}, func(w http.ResponseWriter, _ *http.Request, _ int) {
					w.Header().Set("Content-Type", place.kind)
					io.WriteString(w, place.write(tt.value))
				})
				events, err := gather(t.Context(), e, ask("u"))
				want := ""
				if place.begun {
					want = `start:0 0.0[text "a"`
				}
				got := coded(t, err)
				if got.Code != tt.code || got.Tokens != tt.tokens || got.Limit != tt.limit || got.RetryAfter != tt.after || show(events) != want {
					t.Errorf("events %s, error %+v; want %q and %s, %d of %d, after %d", show(events), got, want, tt.code, tt.tokens, tt.limit, tt.after)
				}
			})
		}
	}
}
