package handlers

import (
	"context"
	"iter"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/handlers/handlerstest"
	"github.com/diglot/diglot/handlers/internal/sse"
)

// deaf is an engine that does nothing until its context ends.
type deaf struct{ handlerstest.Engine }

func (deaf) Models(ctx context.Context) ([]engine.Model, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (deaf) Generate(ctx context.Context, _ *engine.Request) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) {
		if yield(engine.Start{}, nil) {
			<-ctx.Done()
			yield(nil, ctx.Err())
		}
	}
}

func (deaf) Count(ctx context.Context, _ *engine.Request) (int, error) {
	<-ctx.Done()
	return 0, ctx.Err()
}

func (deaf) Embed(ctx context.Context, _ *engine.EmbeddingRequest) (*engine.Embeddings, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (deaf) GenerateImages(ctx context.Context, _ *engine.ImageRequest) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) {
		<-ctx.Done()
		yield(nil, ctx.Err())
	}
}

// TestShutdown shuts down while a request of each operation runs: its client gets an error
// in its style, before the status or after it.
func TestShutdown(t *testing.T) {
	const get, anthropic = " HTTP/1.1\r\nHost: localhost\r\n", "anthropic-version: 2023-06-01\r\n"
	post := func(path, body string) string { return head(path, len(body)) + body }
	stream := func(body string) string { return strings.Replace(body, "{", `{"stream":true,`, 1) }
	const completion, response = `{"model":"m","prompt":"u"}`, `{"model":"m","input":"u"}`
	chat, message := pipeStyles[0], pipeStyles[1]
	for _, tt := range []struct {
		name, request string
		status        int
	}{
		{"chat", post(chat.path, chat.body), 503},
		{"chat, streamed", post(chat.path, stream(chat.body)), 200},
		{"messages", post(message.path, message.body), 529},
		{"messages, streamed", post(message.path, stream(message.body)), 200},
		{"responses", post("/v1/responses", response), 503},
		{"responses, streamed", post("/v1/responses", stream(response)), 200},
		{"completions", post("/v1/completions", completion), 503},
		{"completions, streamed", post("/v1/completions", stream(completion)), 200},
		{"tokens that are counted", post("/v1/messages/count_tokens", `{"model":"m","messages":[{"role":"user","content":"u"}]}`), 529},
		{"vectors", post("/v1/embeddings", response), 503},
		{"pictures", post("/v1/images/generations", completion), 503},
		{"models", "GET /v1/models" + get + "\r\n", 503},
		{"a model", "GET /v1/models/m" + get + anthropic + "\r\n", 529},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				shutdown, end := context.WithCancel(t.Context())
				c := servePipes(t, Config{Engine: deaf{}, Shutdown: shutdown}, many).dial(t, here)
				send(c, tt.request)
				time.Sleep(2 * sse.Silence) // a stream has its status then
				end()
				reply, body := receive(t, c)
				if reply == nil || reply.StatusCode != tt.status || !strings.Contains(body, "The server is shutting down.") {
					t.Fatalf("reply %v, want status %d\n%s", reply, tt.status, body)
				}
				if tt.status != http.StatusOK && reply.Header.Get("Retry-After") == "" {
					t.Errorf("no Retry-After: %v", reply.Header)
				}
			})
		})
	}
}
