package upstream_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine/upstream"
)

// TestFaultsInBothStyles holds what the clients of both styles see of an error
// that a server tells with status 200: a status of their own where nothing has
// been said, and an error frame behind half an answer, which is never the end
// of a whole one.
func TestFaultsInBothStyles(t *testing.T) {
	const chunk = `data: {"choices":[{"index":0,"delta":{"content":"half"}}]}` + "\n\n"
	const done = "data: [DONE]\n\n"
	faults := []struct {
		name, value         string
		openAI, anthropic   int    // status, as the first event
		says, anthropicSays string // there
		retryAfter          string
	}{
		{"too long", `{"error":{"code":400,"message":"request (5000 tokens) exceeds the available context size (4096 tokens)","type":"exceed_context_size_error","n_prompt_tokens":5000,"n_ctx":4096}}`,
			400, 400, `"context_length_exceeded"`, "prompt is too long: 5000 tokens > 4096 maximum", ""},
		{"a rate", `{"detail":{"message":"slow down","code":429,"retry_after":60}}`, 503, 529, `"overloaded"`, `"overloaded_error"`, "60"},
		{"a rate without a time", `{"error":{"message":"Rate limit reached for requests","type":"rate_limit_error","code":"rate_limit_exceeded"}}`,
			503, 529, `"overloaded"`, `"overloaded_error"`, "5"},
		{"a rate for ever", `{"detail":{"message":"slow down","code":429,"retry_after":1e300}}`, 503, 529, `"overloaded"`, `"overloaded_error"`, "86400"},
		{"a value", `{"object":"error","message":"top_p must be positive","type":"BadRequestError","code":400}`, 400, 400, "top_p must be positive", "top_p must be positive", ""},
		{"a failure", `"Internal Server Error"`, 502, 502, `"server_error"`, `"api_error"`, ""},
	}
	styles := []struct{ name, path, body, failure, whole string }{
		{"chat", "/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"u"}]`, `data: {"error":`, "[DONE]"},
		{"completions", "/v1/completions", `{"model":"m","prompt":"u"`, `data: {"error":`, "[DONE]"},
		{"responses", "/v1/responses", `{"model":"m","input":"u"`, "event: response.failed", "response.completed"},
		{"messages", "/v1/messages", `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"u"}]`, "event: error", "message_stop"},
	}
	for _, fault := range faults {
		for _, before := range []string{"", chunk} {
			peer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				out := before
				if r.URL.Path == "/v1/completions" {
					out = strings.ReplaceAll(out, `"delta":{"content":"half"}`, `"text":"half"`)
				}
				io.WriteString(w, out+"data: "+fault.value+"\n\n"+done)
			}))
			e, err := upstream.New(upstream.Config{BaseURL: peer.URL, Model: "m", Log: slog.New(slog.DiscardHandler), Tries: 1})
			if err != nil {
				t.Fatal(err)
			}
			h := serving(t, e)
			for _, style := range styles {
				status, says := fault.openAI, fault.says
				if style.name == "messages" {
					status, says = fault.anthropic, fault.anthropicSays
				}
				for _, end := range []string{"}", `,"stream":true}`} {
					w := post(t, h, style.path, style.body+end)
					body := w.Body.String()
					if before != "" && end != "}" {
						if w.Code != 200 || !strings.Contains(body, style.failure) || strings.Contains(body, style.whole) {
							t.Errorf("%s, %s, under way: status %d\n%s", fault.name, style.name, w.Code, body)
						}
						continue
					}
					if w.Code != status || !strings.Contains(body, says) || w.Header().Get("Retry-After") != fault.retryAfter {
						t.Errorf("%s, %s: status %d, Retry-After %q, want %d, %q and %q\n%s", fault.name, style.name, w.Code, w.Header().Get("Retry-After"), status, fault.retryAfter, says, body)
					}
				}
			}
			peer.Close()
		}
	}
}
