package upstream

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/handlers/openai"
)

const ended = "The server has ended."

// TestOwnServer has the errors of a server of this program come through as it
// tells them, after one try.
func TestOwnServer(t *testing.T) {
	for _, tt := range []struct {
		name   string
		status int
		body   string
		want   engine.Code
		says   string
	}{
		{"a wrong value", 400, `{"error":{"message":"boom","code":null,"param":"top_p"}}`, engine.CodeInvalidArgument, "boom"},
		{"not offered", 400, `{"error":{"message":"boom","code":"unsupported_value"}}`, engine.CodeUnsupported, "boom"},
		{"too long", 400, `{"error":{"message":"boom","code":"context_length_exceeded"}}`, engine.CodeContextLength, "boom"},
		{"not allowed", 403, `{"error":{"message":"boom","code":"forbidden"}}`, engine.CodeForbidden, "boom"},
		{"a key", 401, `{"error":{"message":"boom"}}`, engine.CodeUnauthenticated, "boom"},
		{"no model", 404, `{"error":{"message":"boom","code":"model_not_found"}}`, engine.CodeModelNotFound, "boom"},
		{"a reason of its own", 400, `{"error":{"message":"boom","code":"image_too_large"}}`, engine.CodeInvalidArgument, "boom"},
		{"its mistake", 500, `{"error":{"message":"boom","code":"internal_error"}}`, engine.CodeInternal, "boom"},
		{"a crash", 502, `{"error":{"message":"boom","code":"engine_crashed"}}`, engine.CodeEngineCrashed, "boom"},
		{"too much to do", 503, `{"error":{"message":"boom","code":"overloaded"}}`, engine.CodeOverloaded, "boom"},
		{"too slow", 504, `{"error":{"message":"boom","code":"timeout"}}`, engine.CodeDeadline, "boom"},
		{"a long text", 500, `{"error":{"message":"` + strings.Repeat("a", 2000) + `"}}`, engine.CodeInternal, strings.Repeat("a", 2000)},
		{"no text", 500, `<h1>boom</h1>`, engine.CodeInternal, "The diglot server replied with status 500 and no message."},
	} {
		for _, how := range []string{"status", "frame"} {
			if how == "frame" && !strings.Contains(tt.body, "code\":\"") {
				continue // a frame has no status that could say what it is
			}
			if how == "frame" && tt.name == "a reason of its own" {
				continue
			}
			t.Run(tt.name+"/"+how, func(t *testing.T) {
				e, p := serve(t, Config{Errors: Own{Ended: ended, Code: openai.ErrorCode}, Tries: 1}, func(w http.ResponseWriter, _ *http.Request, _ int) {
					if how == "frame" {
						stream(w, tt.body)
						return
					}
					status(w, tt.status, tt.body)
				})
				_, err := gather(t.Context(), e, ask("u"))
				if got := coded(t, err); got.Code != tt.want || got.Message != tt.says || len(p.all()) != 1 {
					t.Errorf("%s: %q after %d tries; want %s: %q after one", got.Code, got.Message, len(p.all()), tt.want, tt.says)
				}
			})
		}
	}
}

func TestOwnServerIsGone(t *testing.T) {
	for name, answer := range map[string]func(w http.ResponseWriter, _ *http.Request, _ int){
		"before an answer": func(http.ResponseWriter, *http.Request, int) { panic(http.ErrAbortHandler) },
		"within one": func(w http.ResponseWriter, _ *http.Request, _ int) {
			stream(w, `{"choices":[{"index":0,"delta":{"content":"a"}}]}`)
			panic(http.ErrAbortHandler)
		},
		"within one that is whole": func(w http.ResponseWriter, _ *http.Request, _ int) {
			w.Header().Set("Content-Length", "100")
			status(w, 200, `{"choices":`)
			panic(http.ErrAbortHandler)
		},
	} {
		t.Run(name, func(t *testing.T) {
			e, p := serve(t, Config{Errors: Own{Ended: ended, Code: openai.ErrorCode}, Tries: 1}, answer)
			_, err := gather(t.Context(), e, ask("u"))
			if got := coded(t, err); got.Message != ended || got.Err == nil || len(p.all()) != 1 {
				t.Errorf("%v after %d tries", err, len(p.all()))
			}
		})
	}
}

// TestLacks leaves out members before the server has seen any.
func TestLacks(t *testing.T) {
	e, p := serve(t, Config{Lacks: []string{"return_progress", "continuous_usage_stats"}}, func(w http.ResponseWriter, _ *http.Request, _ int) {
		stream(w, `{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}`, "[DONE]")
	})
	if _, err := gather(t.Context(), e, ask("u")); err != nil {
		t.Fatal(err)
	}
	want := `{"messages":[{"content":"u","role":"user"}],"model":"m","stream":true,"stream_options":{"include_usage":true}}`
	if diff := cmp.Diff(want, p.last().body); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}

func TestAllowed(t *testing.T) {
	e, p := serve(t, Config{Key: func() (string, error) { return "", io.ErrNoProgress }}, nil)
	if err := e.Allowed(); err != io.ErrNoProgress || len(p.all()) != 0 {
		t.Errorf("error %v after %d requests", err, len(p.all()))
	}
}
