package gosdk

import (
	"bytes"
	"context"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	anthropic "github.com/anthropics/anthropic-sdk-go"
	anthropicsse "github.com/anthropics/anthropic-sdk-go/packages/ssestream"
	older "github.com/openai/openai-go"
	oldersse "github.com/openai/openai-go/packages/ssestream"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/ssestream"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/handlers"
)

// slow thinks for a long time before and within its answer.
type slow struct{ engine.Engine }

func (slow) Generate(context.Context, *engine.Request) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) {
		for _, event := range []engine.Event{
			engine.Start{PromptTokens: 1}, engine.BlockStart{Kind: engine.BlockText}, engine.TextDelta{Text: "a"},
			engine.TextDelta{Text: "b"}, engine.BlockStop{}, engine.Finish{Reason: engine.FinishEndOfTurn}, engine.Done{},
		} {
			time.Sleep(10 * time.Second)
			if !yield(event, nil) {
				return
			}
		}
	}
}

// slowReply is what the server says of a slow answer, with its keep-alives.
func slowReply(t *testing.T, path, body string) *http.Response {
	t.Helper()
	h, err := handlers.New(handlers.Config{Engine: slow{}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	synctest.Test(t, func(t *testing.T) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body))
		r.Host = "localhost"
		r.Header.Set("Content-Type", "application/json")
		h.ServeHTTP(w, r)
	})
	if n := bytes.Count(w.Body.Bytes(), []byte("keep-alive")) + bytes.Count(w.Body.Bytes(), []byte("event: ping")); w.Code != 200 || n < 5 {
		t.Fatalf("status %d with %d keep-alives\n%s", w.Code, n, w.Body)
	}
	return &http.Response{Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(w.Body)}
}

// TestKeepAlives has the decoders of SDKs, older ones too, read a stream with
// long silences.
func TestKeepAlives(t *testing.T) {
	const chat = `{"model":"m","stream":true,"messages":[{"role":"user","content":"x"}]}`
	tests := []struct {
		name, path, body string
		read             func(*http.Response) (string, error)
	}{
		{"chat", "/v1/chat/completions", chat, func(r *http.Response) (text string, err error) {
			s := ssestream.NewStream[openai.ChatCompletionChunk](ssestream.NewDecoder(r), nil)
			for s.Next() {
				text += s.Current().Choices[0].Delta.Content
			}
			return text, s.Err()
		}},
		{"chat, an older SDK", "/v1/chat/completions", chat, func(r *http.Response) (text string, err error) {
			s := oldersse.NewStream[older.ChatCompletionChunk](oldersse.NewDecoder(r), nil)
			for s.Next() {
				text += s.Current().Choices[0].Delta.Content
			}
			return text, s.Err()
		}},
		{"responses, an older SDK", "/v1/responses", `{"model":"m","stream":true,"input":"x"}`, func(r *http.Response) (text string, err error) {
			type event struct{ Type, Delta string }
			s := oldersse.NewStream[event](oldersse.NewDecoder(r), nil)
			for s.Next() {
				text += s.Current().Delta
			}
			return text, s.Err()
		}},
		{"messages", "/v1/messages", `{"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"x"}]}`, func(r *http.Response) (text string, err error) {
			s := anthropicsse.NewStream[anthropic.MessageStreamEventUnion](anthropicsse.NewDecoder(r), nil)
			for s.Next() {
				text += s.Current().Delta.Text
			}
			return text, s.Err()
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if text, err := tt.read(slowReply(t, tt.path, tt.body)); text != "ab" || err != nil {
				t.Errorf("text %q, error %v", text, err)
			}
		})
	}
}
