package handlers_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/diglot/diglot/handlers"
)

// TestLogIsBounded sends long values, which must not fill the log.
func TestLogIsBounded(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for _, tt := range []struct{ name, method, path, body, want string }{
		{"a model", "POST", "/v1/embeddings", `{"model":"` + long + `","input":"a"}`, "status=404"},
		{"an ignored field", "POST", "/v1/chat/completions", strings.Replace(chatBody, "{", `{"`+long+`":1,`, 1), "status=200"},
		{"the URL of an image", "POST", "/v1/messages",
			`{"model":"m","max_tokens":8,"messages":[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"http://` + long + `/"}}]}]}`, "status=400"},
		{"a path", "GET", "/" + long, "", "status=404"},
		{"a method", long, "/v1/models", "", "status=405"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var log strings.Builder
			h := newHandler(t, handlers.Config{
				Engine: playing(t, "models: {m: {vision: true, replies: [{pieces: [x]}]}}"),
				Log:    slog.New(slog.NewTextHandler(&log, nil)),
			})
			w := ask(t, h, tt.method, tt.path, []byte(tt.body))
			if !strings.Contains(log.String(), tt.want) || log.Len() > 10_000 {
				t.Errorf("%d bytes of log, want %s in a few thousand:\n%.500s", log.Len(), tt.want, log.String())
			}
			if w.Body.Len() > 2000 {
				t.Errorf("a reply of %d bytes", w.Body.Len())
			}
		})
	}
}
