package handlers

import (
	"context"
	"encoding/json"
	"iter"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/handlers/handlerstest"
)

// TestHeldAnswers has answers larger than all memory: a whole reply is an error before its
// status, a stream holds nothing.
func TestHeldAnswers(t *testing.T) {
	token := engine.TokenLogprob{Token: []byte("a"), Top: make([]engine.TokenLogprob, 20)}
	for _, answer := range []struct {
		name   string
		events []engine.Event
	}{
		{"text", handlerstest.Text(strings.Repeat("a", 1<<20))},
		{"probabilities", withLogprobs(handlerstest.Text("a"), token, 500)},
		{"texts that are empty", blocks(engine.BlockStart{Kind: engine.BlockText}, 2000)},
		{"calls without arguments", blocks(engine.BlockStart{Kind: engine.BlockToolCall, CallID: "c", Name: "f"}, 2000)},
		{"names", blocks(engine.BlockStart{Kind: engine.BlockToolCall, CallID: "c", Name: strings.Repeat("f", 1<<20)}, 1)},
	} {
		for _, style := range pipeStyles {
			t.Run(answer.name+" "+style.name, func(t *testing.T) {
				budget := NewBudget(2<<20, 10)
				h, err := New(Config{Engine: &handlerstest.Engine{Name: "m", Events: answer.events}, Budget: budget, Log: slog.New(slog.DiscardHandler)})
				if err != nil {
					t.Fatal(err)
				}
				for _, tt := range []struct {
					body   string
					status int
				}{
					{style.body, http.StatusInternalServerError}, // to ask again is of no help
					{strings.Replace(style.body, "{", `{"stream":true,`, 1), http.StatusOK},
				} {
					r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, style.path, strings.NewReader(tt.body))
					r.Host = "localhost"
					r.Header.Set("Content-Type", "application/json")
					w := httptest.NewRecorder()
					h.ServeHTTP(w, r)
					if w.Code != tt.status {
						t.Errorf("status %d, want %d\n%.300s", w.Code, tt.status, w.Body)
					}
					if free := budget.bodies.Free(); free != 2<<20 {
						t.Errorf("afterwards %d bytes are free", free)
					}
				}
			})
		}
	}
}

// vectorEngine has vectors, pictures and names of a size.
type vectorEngine struct {
	handlerstest.Engine
	size int
}

func (e *vectorEngine) Embed(_ context.Context, req *engine.EmbeddingRequest) (*engine.Embeddings, error) {
	out := &engine.Embeddings{PromptTokens: 1}
	for range req.Inputs {
		out.Vectors = append(out.Vectors, slices.Repeat([]float32{-0.123456789}, e.size))
	}
	return out, nil
}

func (e *vectorEngine) GenerateImages(context.Context, *engine.ImageRequest) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) {
		yield(engine.Drawn{Image: engine.Image{Data: make([]byte, e.size), MediaType: "image/png"}, Width: 1, Height: 1}, nil)
	}
}

func (e *vectorEngine) Models(context.Context) ([]engine.Model, error) {
	return make([]engine.Model, e.size/100), nil
}

// TestHeldReplies checks the same for replies other than text: while a client reads a reply
// its memory counts, and further requests are told to retry.
func TestHeldReplies(t *testing.T) {
	const size, all = 200_000, 6 << 20 // three of them, and not four
	post := func(path, body string) string { return head(path, len(body)) + body }
	const models = "GET /v1/models HTTP/1.1\r\nHost: localhost\r\n"
	for _, tt := range []struct {
		name, request string
		overloaded    int
	}{
		{"vectors", post("/v1/embeddings", `{"model":"m","input":"a"}`), 503},
		{"vectors in base64", post("/v1/embeddings", `{"model":"m","input":"a","encoding_format":"base64"}`), 503},
		{"pictures", post("/v1/images/generations", `{"model":"m","prompt":"a"}`), 503},
		{"models", models + "\r\n", 503},
		{"a page of models", strings.Replace(models, "models", "models?limit=1000", 1) + "anthropic-version: 2023-06-01\r\n\r\n", 529},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				budget := NewBudget(all, 100)
				s := servePipes(t, Config{Engine: &vectorEngine{handlerstest.Engine{Name: "m"}, size}, Budget: budget}, many)
				refused, taken := 0, []net.Conn{}
				for range 12 {
					c := s.dial(t, here)
					send(c, tt.request)
					synctest.Wait()
					taken = append(taken, c)
				}
				held := all - budget.bodies.Free()
				for _, c := range taken {
					reply, body := receive(t, c)
					switch {
					case reply != nil && reply.StatusCode == tt.overloaded && reply.Header.Get("Retry-After") != "":
						refused++
					case reply == nil || reply.StatusCode != http.StatusOK || !json.Valid([]byte(body)):
						t.Errorf("reply %v\n%.200s", reply, body)
					}
				}
				if held < all/2 || refused == 0 || refused == len(taken) {
					t.Errorf("%d bytes are held, and %d of %d are refused", held, refused, len(taken))
				}
				synctest.Wait()
				if free := budget.bodies.Free(); free != all {
					t.Errorf("afterwards %d bytes are free", free)
				}
			})
		})
	}
}

// TestHeldStream has a stream of responses, whose last event repeats the whole answer: its
// memory counts, and too much ends it with an error.
func TestHeldStream(t *testing.T) {
	for size, last := range map[int]string{1 << 10: "event: response.completed\n", 1 << 20: "event: response.failed\n"} {
		budget := NewBudget(2<<20, 10)
		e := &handlerstest.Engine{Name: "m", Events: handlerstest.Text(strings.Repeat("a", size))}
		h, err := New(Config{Engine: e, Budget: budget, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/responses", strings.NewReader(`{"model":"m","input":"u","stream":true}`))
		r.Host = "localhost"
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), last) {
			t.Errorf("%d bytes: status %d without %q\n%.300s", size, w.Code, last, w.Body)
		}
		if free := budget.bodies.Free(); free != 2<<20 {
			t.Errorf("%d bytes: afterwards %d are free", size, free)
		}
	}
}

// late is an engine that emits events after its request has ended.
type late struct {
	handlerstest.Engine
	begun, returned, ended chan struct{}
	bound                  context.Context // of the test
}

func (e *late) Generate(context.Context, *engine.Request) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) {
		defer close(e.ended)
		_ = yield(engine.Start{PromptTokens: 3}, nil) && yield(engine.BlockStart{Kind: engine.BlockText}, nil)
		close(e.begun)
		select {
		case <-e.returned:
		case <-e.bound.Done():
		}
		yield(engine.TextDelta{Text: strings.Repeat("a", 1<<10)}, nil)
	}
}

// TestHeldBehindTheEnd has a client leave a stream whose engine goes on: later events
// reserve no memory, which nobody would release.
func TestHeldBehindTheEnd(t *testing.T) {
	budget := NewBudget(2<<20, 10)
	bound, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	e := &late{begun: make(chan struct{}), returned: make(chan struct{}), ended: make(chan struct{}), bound: bound}
	h, err := New(Config{Engine: e, Budget: budget, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, leave := context.WithCancel(t.Context())
	go func() {
		<-e.begun
		leave()
	}()
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/v1/responses", strings.NewReader(`{"model":"m","input":"u","stream":true}`))
	r.Host = "localhost"
	r.Header.Set("Content-Type", "application/json")
	h.ServeHTTP(httptest.NewRecorder(), r)
	if bound.Err() != nil {
		t.Fatal("the handler waits for the engine, though the client has left")
	}
	close(e.returned)
	<-e.ended
	if free := budget.bodies.Free(); free != 2<<20 {
		t.Errorf("afterwards %d bytes are free", free)
	}
}

// withLogprobs gives each text the same token so many times.
func withLogprobs(events []engine.Event, token engine.TokenLogprob, times int) []engine.Event {
	for i, event := range events {
		if text, ok := event.(engine.TextDelta); ok {
			for range times {
				text.Logprobs = append(text.Logprobs, token)
			}
			events[i] = text
		}
	}
	return events
}

// blocks is an answer of so many blocks with nothing in them.
func blocks(start engine.BlockStart, times int) []engine.Event {
	events := []engine.Event{engine.Start{PromptTokens: 3}}
	for i := range times {
		start.Index = i
		events = append(events, start, engine.BlockStop{Index: i})
	}
	return append(events, engine.Finish{Reason: engine.FinishEndOfTurn}, engine.Done{})
}
