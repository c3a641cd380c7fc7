package upstream

import (
	"io"
	"net/http"
	"testing"

	"github.com/diglot/diglot/engine"
)

// TestStreamDialects has streams as servers write them.
func TestStreamDialects(t *testing.T) {
	const a, b, stop = `{"id":"1","choices":[{"index":0,"delta":{"role":"assistant","content":"a"},"finish_reason":null}]}`,
		`{"id":"1","choices":[{"index":0,"delta":{"content":"b"},"finish_reason":null}]}`,
		`{"id":"1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	const want = `start:0 0.0[text "a" "b"] 0:end_of_turn done:0,0,0,0`
	const counted = `start:0 0.0[text "a" "b"] 0:end_of_turn done:5,0,2,0`
	const half = `start:0 0.0[text "a" "b"`
	tests := []struct {
		server, body string
		want         string
		code         engine.Code
	}{
		{"OpenAI", "data: " + a + "\n\ndata: " + b + "\n\ndata: " + stop + "\n\ndata: [DONE]\n\n", want, ""},
		{"OpenAI, obfuscated", `data: {"choices":[{"index":0,"delta":{"content":"a"}}],"obfuscation":"xyz"}` + "\n\ndata: " + b + "\n\ndata: " + stop + "\n\ndata: [DONE]\n\n", want, ""},
		{"Azure", `data: {"choices":[],"created":0,"id":"","model":"","object":"","prompt_filter_results":[{"prompt_index":0}]}` + "\n\ndata: " + a + "\n\ndata: " + b +
			"\n\ndata: " + `{"choices":[{"index":0,"content_filter_offsets":{"check_offset":1},"content_filter_results":{},"finish_reason":null}]}` + "\n\ndata: " + stop + "\n\ndata: [DONE]\n\n", want, ""},
		{"vLLM", "data: " + a + "\n\ndata: " + b + "\n\ndata: " + stop + "\n\n" + `data: {"id":"1","choices":[],"usage":{"prompt_tokens":5,"total_tokens":7,"completion_tokens":2}}` + "\n\ndata: [DONE]\n\n", counted, ""},
		{"SGLang, null usage", `data: {"choices":[{"index":0,"delta":{"content":"a"},"logprobs":null,"finish_reason":null,"matched_stop":null}],"usage":null}` + "\n\ndata: " + b +
			"\n\n" + `data: {"choices":[{"index":0,"delta":{"content":null,"reasoning_content":null,"tool_calls":null},"finish_reason":"stop","matched_stop":2}],"usage":null}` + "\n\ndata: [DONE]\n\n", want, ""},
		{"llama-server", "data: " + a + "\n\ndata: " + b + "\n\ndata: " + stop + "\n\n: \n\n" + `data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2},"timings":{}}` + "\n\ndata: [DONE]\n\n", counted, ""},
		{"llama-server, comments", ":\n\n:\n\ndata: " + a + "\n\n:\n\ndata: " + b + "\n\ndata: " + stop + "\n\ndata: [DONE]\n\n", want, ""},
		{"Ollama", "data: " + a + "\n\ndata: " + b + "\n\n" + `data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n", want, ""},
		{"LiteLLM", "data: " + a + "\n\ndata: " + b + "\n\n" + `data: {"choices":[{"finish_reason":"stop","index":0,"delta":{}}],"error":null}` + "\n\ndata: [DONE]\n\n", want, ""},
		{"TGI", "data:" + a + "\n\ndata:" + b + "\n\ndata:" + stop + "\n\ndata: [DONE]\n\n", want, ""},
		{"TGI, keep-alives", ":\n\ndata:" + a + "\n\n:\n\ndata:" + b + "\n\ndata:" + stop + "\n\ndata:[DONE]\n\n", want, ""},
		{"LM Studio", "data: " + a + "\n\ndata: " + b + "\n\ndata: " + stop + "\n\ndata: [DONE]\n\n", want, ""},
		{"OpenRouter", ": OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\ndata: " + a + "\n\n: OPENROUTER PROCESSING\n\ndata: " + b + "\n\ndata: " + stop + "\n\ndata: [DONE]\n\n", want, ""},
		{"OpenRouter, through a proxy", "data: : OPENROUTER PROCESSING\n\ndata: " + a + "\n\ndata: : OPENROUTER PROCESSING\n\ndata: " + b + "\n\ndata: " + stop + "\n\ndata: [DONE]\n\n", want, ""},
		{"Groq", "data: " + a + "\n\ndata: " + b + "\n\n" + `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"x_groq":{"id":"r","usage":{"prompt_tokens":5}}}` + "\n\ndata: [DONE]\n\n", want, ""},
		{"Together", `data: {"choices":[{"index":0,"text":"a","delta":{"content":"a"}}],"usage":null}` + "\n\ndata: " + b + "\n\n" + `data: {"choices":[{"index":0,"delta":{"content":""},"finish_reason":"eos"}],"usage":{"prompt_tokens":5,"completion_tokens":2}}` + "\n\ndata: [DONE]\n\n", counted, ""},
		{"Gemini", "data: " + a + "\r\n\r\ndata: " + b + "\r\n\r\ndata: " + stop + "\r\n\r\ndata: [DONE]\r\n\r\n", want, ""},
		{"Mistral", "data: " + a + "\n\ndata: " + b + "\n\n" + `data: {"choices":[{"index":0,"delta":{"content":""},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":2}}` + "\n\ndata: [DONE]\n\n", counted, ""},
		{"DeepSeek, keep-alives", ": keep-alive\n\n: keep-alive\n\ndata: " + a + "\n\ndata: " + b + "\n\ndata: " + stop + "\n\ndata: [DONE]\n\n", want, ""},
		{"DashScope", "id:1\nevent:result\n:HTTP_STATUS/200\ndata:" + a + "\n\nid:2\nevent:result\ndata:" + b + "\n\nid:3\nevent:result\ndata:" + stop + "\n\ndata:[DONE]\n\n", want, ""},
		{"MiniMax", `data: {"choices":[{"index":0,"delta":{"content":"a"}}],"base_resp":{"status_code":0,"status_msg":""}}` + "\n\ndata: " + b + "\n\ndata: " + stop + "\n\ndata: [DONE]\n\n", want, ""},
		{"Cloudflare", "data: " + a + "\n\ndata: " + b + "\n\ndata: " + stop + "\n\n" + `data: {"response":"","usage":{"prompt_tokens":5,"completion_tokens":2}}` + "\n\ndata: [DONE]\n\n", counted, ""},
		{"diglot", ": keep-alive\n: keep-alive\ndata: " + a + "\n\n: keep-alive\ndata: " + b + "\n\ndata: " + stop + "\n\ndata: [DONE]\n\n", want, ""},
		{"sse-starlette", ": ping - 2026-01-01 00:00:00.000000+00:00\r\n\r\ndata: " + a + "\r\n\r\ndata: " + b + "\r\n\r\ndata: " + stop + "\r\n\r\ndata: [DONE]\r\n\r\n", want, ""},
		{"pings by name", "event: ping\ndata: 2026-01-01 00:00:00\n\nevent: ping\ndata: {\"type\":\"ping\"}\n\ndata: " + a + "\n\ndata: " + b + "\n\nevent: heartbeat\ndata: alive\n\ndata: " + stop + "\n\nevent: done\ndata: [DONE]\n\n", want, ""},
		{"signs of life", "retry: 3000\n\nid: 1\n\ndata: {}\n\ndata: null\n\ndata: " + a + "\n\ndata: {\"status\":\"running\"}\n\ndata: " + b + "\n\ndata: " + stop + "\n\ndata: [DONE]\n\n", want, ""},
		{"empty data", "data:\n\ndata: \n\ndata: " + a + "\n\ndata\n\ndata: " + b + "\n\ndata: " + stop + "\n\ndata: [DONE]\n\n", want, ""},
		{"carriage returns alone", "data: " + a + "\r\rdata: " + b + "\r\rdata: " + stop + "\r\rdata: [DONE]\r\r", want, ""},
		{"the mark of UTF-8", "\ufeffdata: " + a + "\n\ndata: " + b + "\n\ndata: " + stop + "\n\ndata: [DONE]\n\n", want, ""},
		{"the mark of UTF-8 and blank lines", "\ufeff\n\n\ndata: " + a + "\n\ndata: " + b + "\n\ndata: " + stop + "\n\ndata: [DONE]\n\n", want, ""},
		{"no blank lines", "data: " + a + "\ndata: " + b + "\ndata: " + stop + "\ndata: [DONE]\n", want, ""},
		{"names of events", "event: completion.chunk\ndata: " + a + "\n\nevent: message\ndata: " + b + "\n\nevent: completion.chunk\ndata: " + stop + "\n\ndata: [DONE]\n\n", want, ""},
		{"blanks behind the mark", "data: " + a + "\n\ndata: " + b + "\n\ndata: " + stop + "\n\ndata: [DONE] \n\n", want, ""},
		{"no line end behind the mark", "data: " + a + "\n\ndata: " + b + "\n\ndata: [DONE]", want, ""},
		{"a reason and no mark", "data: " + a + "\n\ndata: " + b + "\n\ndata: " + stop + "\n\n", want, ""},
		{"a reason and no line end", "data: " + a + "\n\ndata: " + b + "\n\ndata: " + stop, want, ""},
		{"a reason, and half a frame", "data: " + a + "\n\ndata: " + b + "\n\ndata: " + stop + "\n\ndata: {\"choi", want, ""},
		{"neither reason nor mark", "data: " + a + "\n\ndata: " + b + "\n\n", half, engine.CodeEngineCrashed},
		{"half a frame", "data: " + a + "\n\ndata: " + b + "\n\ndata: {\"choi", half, engine.CodeEngineCrashed},
		{"a comment at the end", "data: " + a + "\n\ndata: " + b + "\n\n: bye\n\n", half, engine.CodeEngineCrashed},
		{"reasons of Mistral and in capitals", "data: " + a + "\n\ndata: " + b + "\n\n" + `data: {"choices":[{"index":0,"delta":{},"finish_reason":"STOP"}]}` + "\n\ndata: [DONE]\n\n", want, ""},
		{"counts in other forms", "data: " + a + "\n\ndata: " + b + "\n\n" + `data: {"choices":[{"index":0.0,"delta":{},"logprobs":[],"finish_reason":"stop"}],"usage":{"prompt_tokens":5.0,"completion_tokens":"2","prompt_tokens_details":[]}}` + "\n\ndata: [DONE]\n\n", counted, ""},
		{"counts that are none", "data: " + a + "\n\ndata: " + b + "\n\ndata: " + stop + "\n\n" + `data: {"choices":[],"usage":"many"}` + "\n\ndata: [DONE]\n\n", want, ""},
		{"an error of the answer", "data: " + a + "\n\ndata: " + b + "\n\n" + `data: {"choices":[{"index":0,"delta":{"content":""},"error":{"code":502,"message":"The provider has failed."},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n", half, engine.CodeEngineCrashed},
		{"a name that tells an error", "data: " + a + "\n\ndata: " + b + "\n\nevent: Exception\ndata: boom\n\ndata: [DONE]\n\n", half, engine.CodeEngineCrashed},
		{"an error in unknown words", "data: " + a + "\n\ndata: " + b + "\n\ndata: {\"errmsg\":\"boom\"}\n\ndata: [DONE]\n\n", half, engine.CodeEngineCrashed},
		{"an error in unknown words, and a reason", "data: " + a + "\n\ndata: " + b + "\n\ndata: {\"errmsg\":\"boom\"}\n\ndata: " + stop + "\n\ndata: [DONE]\n\n", want, ""},
		{"a text without a field", "data: " + a + "\n\ndata: " + b + "\n\nInternal Server Error\n\ndata: [DONE]\n\n", half, engine.CodeEngineCrashed},
		{"a page within", "data: " + a + "\n\ndata: " + b + "\n\n<html>502</html>\n\ndata: [DONE]\n\n", half, engine.CodeEngineCrashed},
		{"a page", "<html><body>Welcome</body></html>", "", engine.CodeEngineCrashed},
		{"nothing", "", "", engine.CodeEngineCrashed},
		{"comments alone", ": a\n\n: b\n\n", "", engine.CodeEngineCrashed},
	}
	for _, tt := range tests {
		for _, kind := range []string{"text/event-stream", "text/event-stream; charset=utf-8", "text/plain", "application/json", "application/x-ndjson"} {
			t.Run(tt.server+"/"+kind, func(t *testing.T) {
				e, _ := serve(t, Config{}, func(w http.ResponseWriter, _ *http.Request, _ int) {
					w.Header().Set("Content-Type", kind)
					io.WriteString(w, tt.body)
				})
				checkReply(t, e, ask("u"), tt.want, tt.code)
			})
		}
	}
}

// TestFirstErrorIsTriedAgain holds that an error in the first frame is as
// good as one by status: the request goes out again where that may help, and
// without a member that the server does not know.
func TestFirstErrorIsTriedAgain(t *testing.T) {
	fine := []string{says(`"content":"a"`), end("stop"), done}
	for name, first := range map[string]string{
		"too much to do":   `{"error":{"message":"slow down","code":429,"retry_after":2}}`,
		"an unknown field": `{"error":{"message":"unrecognized field: return_progress","code":400}}`,
	} {
		t.Run(name, func(t *testing.T) {
			e, p := serve(t, Config{}, func(w http.ResponseWriter, _ *http.Request, n int) {
				if n == 1 {
					stream(w, first)
					return
				}
				stream(w, fine...)
			})
			checkReply(t, e, ask("u"), `start:0 0.0[text "a"] 0:end_of_turn done:0,0,0,0`, "")
			if n := len(p.all()); n != 2 {
				t.Errorf("%d tries", n)
			}
		})
	}
}

// TestBrokenEnd has a connection break behind a whole answer, and within one.
func TestBrokenEnd(t *testing.T) {
	for name, tt := range map[string]struct {
		lines []string
		want  string
		code  engine.Code
	}{
		"behind the reason": {[]string{says(`"content":"a"`), end("stop")}, `start:0 0.0[text "a"] 0:end_of_turn done:0,0,0,0`, ""},
		"before it":         {[]string{says(`"content":"a"`)}, `start:0 0.0[text "a"`, engine.CodeEngineCrashed},
	} {
		t.Run(name, func(t *testing.T) {
			e, _ := serve(t, Config{}, func(w http.ResponseWriter, _ *http.Request, _ int) {
				w.Header().Set("Content-Length", "10000")
				stream(w, tt.lines...)
				panic(http.ErrAbortHandler)
			})
			checkReply(t, e, ask("u"), tt.want, tt.code)
		})
	}
}
