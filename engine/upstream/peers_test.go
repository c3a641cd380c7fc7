//go:build peers

package upstream_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/enginetest"
	"github.com/diglot/diglot/engine/upstream"
)

// These tests ask a real llama-server:
//
//	go test -tags peers ./engine/upstream -run Llama -llama-server PATH -model FILE.gguf
var (
	llamaServer = flag.String("llama-server", "", "the program")
	modelFile   = flag.String("model", "", "a model that chats, as a GGUF file")
)

const peerContext = 4096

// llama starts a llama-server and returns its base URL.
func llama(t *testing.T) string {
	t.Helper()
	if *llamaServer == "" || *modelFile == "" {
		t.Fatal("the tests with the tag peers need -llama-server and -model")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	p := exec.Command(*llamaServer, "-m", *modelFile, "-c", fmt.Sprint(2*peerContext), "-np", "2", "-t", "1",
		"--host", "127.0.0.1", "--port", fmt.Sprint(port), "--jinja", "--api-key", "secret")
	var log strings.Builder
	p.Stdout, p.Stderr = &log, &log
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.Process.Signal(os.Interrupt)
		_ = p.Wait()
		if t.Failed() {
			t.Log(log.String())
		}
	})
	base := fmt.Sprintf("http://127.0.0.1:%d", port)
	ready(t, base+"/health")
	return base + "/v1"
}

// ready waits until a server answers: nothing else says that it does.
func ready(t *testing.T, url string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		if response, err := http.DefaultClient.Do(r); err == nil {
			response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return
			}
		}
		select {
		case <-ctx.Done():
			t.Fatal("llama-server does not start")
		case <-tick.C:
		}
	}
}

func peerEngine(t *testing.T, base, key string) *upstream.Engine {
	t.Helper()
	e, err := upstream.New(upstream.Config{BaseURL: base, Model: "m", Name: "m", Log: slog.New(slog.DiscardHandler),
		Key: func() (string, error) { return key, nil }})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func question(text string) *engine.Request {
	return &engine.Request{Model: "m", Choices: 1, MaxTokens: new(8), Sampling: engine.Sampling{Temperature: new(0.0), Seed: new(int64(1))},
		Messages: []engine.Message{
			{Role: engine.RoleSystem, Parts: []engine.Part{engine.Text{Text: "You are helpful."}}},
			{Role: engine.RoleUser, Parts: []engine.Part{engine.Text{Text: text}}}}}
}

// whole collects a reply whose events must be well-formed.
func whole(t *testing.T, e engine.Engine, req *engine.Request) *engine.Response {
	t.Helper()
	var events []engine.Event
	r, err := engine.Collect(func(yield func(engine.Event, error) bool) {
		for event, err := range e.Generate(t.Context(), req) {
			events = append(events, event)
			if !yield(event, err) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := enginetest.Check(events); err != nil {
		t.Error(err)
	}
	return r
}

func TestLlamaServer(t *testing.T) {
	base := llama(t)
	e := peerEngine(t, base, "secret")
	t.Run("chat, and its count", func(t *testing.T) {
		req := question("What is the capital of France?")
		r := whole(t, e, req)
		text := r.Choices[0].Blocks[0].Text
		t.Logf("%q %+v", text, r.Usage)
		if len(text) < 2 || r.Usage.CompletionTokens < 2 {
			t.Errorf("says %q, usage %+v", text, r.Usage)
		}
		var start engine.Start
		for event := range e.Generate(t.Context(), req) {
			start = event.(engine.Start)
			break
		}
		n, err := e.Count(t.Context(), req)
		if err != nil || n != r.Usage.PromptTokens || start.PromptTokens != n {
			t.Errorf("counts %d, %v; the reply has %d and begins with %d", n, err, r.Usage.PromptTokens, start.PromptTokens)
		}
	})
	t.Run("choices with their tokens", func(t *testing.T) {
		req := question("Name a colour.")
		req.Choices, req.Logprobs, req.MaxTokens = 2, new(2), new(5)
		r := whole(t, e, req)
		for i, c := range r.Choices {
			joined := ""
			for _, token := range c.Blocks[0].Logprobs {
				joined += string(token.Token)
				if len(token.Top) != 2 {
					t.Errorf("choice %d: %+v", i, token)
				}
			}
			if joined != c.Blocks[0].Text {
				t.Errorf("choice %d: tokens %q of the text %q", i, joined, c.Blocks[0].Text)
			}
		}
	})
	t.Run("a schema", func(t *testing.T) {
		req := question("Give me a person as JSON.")
		req.MaxTokens = new(60)
		req.Format = engine.Format{Kind: engine.FormatSchema, Schema: json.RawMessage(
			`{"type":"object","properties":{"name":{"type":"string","maxLength":20},"age":{"type":"integer","minimum":0,"maximum":99}},"required":["name","age"],"additionalProperties":false}`)}
		text := whole(t, e, req).Choices[0].Blocks[0].Text
		t.Log(text)
		var person struct {
			Name *string
			Age  *int
		}
		if err := json.Unmarshal([]byte(text), &person); err != nil || person.Name == nil || person.Age == nil {
			t.Errorf("%v: %s", err, text)
		}
	})
	t.Run("a call", func(t *testing.T) { peerCall(t, e) })
	t.Run("a raw text, and its count", func(t *testing.T) {
		req := question("")
		req.Messages, req.Prompt, req.Logprobs = nil, &engine.Prompt{Text: "The capital of France is"}, new(1)
		r := whole(t, e, req)
		t.Logf("%q", r.Choices[0].Blocks[0].Text)
		if len(r.Choices[0].Blocks[0].Logprobs) == 0 {
			t.Error("no tokens")
		}
		if n, err := e.Count(t.Context(), req); err != nil || n != r.Usage.PromptTokens {
			t.Errorf("counts %d, %v; the reply has %d", n, err, r.Usage.PromptTokens)
		}
	})
	t.Run("errors", func(t *testing.T) { peerErrors(t, base, e) })
	t.Run("cancel", func(t *testing.T) { peerCancel(t, e) })
	t.Run("both styles", func(t *testing.T) { peerStyles(t, e) })
}

// peerCall requires a call. A server that makes none for this model must not
// seem to have ended its turn. Earlier calls and results it must take anyway.
func peerCall(t *testing.T, e *upstream.Engine) {
	req := question("What is the weather in Paris?")
	req.MaxTokens = new(60)
	req.Tools = []engine.Tool{{Name: "other"}, {Name: "get_weather", Description: "Weather of a city",
		Parameters: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string","maxLength":20}},"required":["city"]}`)}}
	req.ToolChoice = engine.ToolChoice{Mode: engine.ToolRequired, Names: []string{"get_weather"}, Single: true}
	r, err := engine.Collect(e.Generate(t.Context(), req))
	switch {
	case err != nil:
		t.Logf("llama-server makes no calls with this model: %v", err)
		if got := engine.AsError(err); got.Code != engine.CodeUnsupported || got.Place.Field != engine.FieldToolChoice {
			t.Errorf("%+v", got)
		}
	case r.Choices[0].Reason == engine.FinishToolCalls:
		call := r.Choices[0].Blocks[len(r.Choices[0].Blocks)-1]
		t.Logf("%+v", call)
		if call.Name != "get_weather" || !json.Valid([]byte(call.Arguments)) {
			t.Errorf("%+v", call)
		}
	case r.Choices[0].Reason != engine.FinishMaxTokens:
		t.Errorf("%+v", r.Choices[0])
	}
	req.ToolChoice, req.MaxTokens = engine.ToolChoice{}, new(5)
	req.Messages = append(req.Messages,
		engine.Message{Role: engine.RoleAssistant, Parts: []engine.Part{engine.ToolCall{ID: "1", Name: "get_weather", Arguments: `{"city":"Paris"}`}}},
		engine.Message{Role: engine.RoleTool, Parts: []engine.Part{engine.ToolResult{CallID: "1", Name: "get_weather", Parts: []engine.Part{engine.Text{Text: "22 degrees"}}}}})
	whole(t, e, req)
}

func peerErrors(t *testing.T, base string, e *upstream.Engine) {
	long := question(strings.Repeat("word ", 2*peerContext))
	_, err := engine.Collect(e.Generate(t.Context(), long))
	got := engine.AsError(err)
	t.Log(got)
	if got.Code != engine.CodeContextLength || got.Limit != peerContext || got.Tokens <= got.Limit {
		t.Errorf("a context too small: %+v", got)
	}
	_, err = engine.Collect(peerEngine(t, base, "wrong").Generate(t.Context(), question("hi")))
	if got := engine.AsError(err); got.Code != engine.CodeInternal || !strings.Contains(got.Message, "diglot login") {
		t.Errorf("a wrong key: %v", got)
	}
	_, err = e.Embed(t.Context(), &engine.EmbeddingRequest{Model: "m", Inputs: []engine.EmbeddingInput{{Text: "a"}}})
	if got := engine.AsError(err); got.Code != engine.CodeUnsupported {
		t.Errorf("embeddings of a model that makes none: %v", got)
	}
	_, err = engine.CollectImages(e.GenerateImages(t.Context(), &engine.ImageRequest{Model: "m", Prompt: "a cat", Choices: 1}))
	if got := engine.AsError(err); got.Code != engine.CodeModelNotFound {
		t.Errorf("pictures: %v", got)
	}
	bad := question("hi")
	bad.Format = engine.Format{Kind: engine.FormatSchema, Schema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"nonsense"}}}`)}
	_, err = engine.Collect(e.Generate(t.Context(), bad))
	t.Log(err)
	if got := engine.AsError(err); err != nil && got.Code != engine.CodeInvalidArgument {
		t.Errorf("a schema that is none: %v", got)
	}
}

func peerCancel(t *testing.T, e *upstream.Engine) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req := question("Tell a long story.")
	req.MaxTokens = nil
	var last error
	for _, err := range e.Generate(ctx, req) {
		last = err
		cancel()
	}
	if engine.AsError(last).Code != engine.CodeCanceled {
		t.Errorf("ends with %v", last)
	}
	whole(t, e, question("Still there?"))
}

func peerStyles(t *testing.T, e *upstream.Engine) {
	far := serving(t, e)
	for path, body := range map[string]string{
		"/v1/chat/completions":      `{"model":"m","temperature":0,"max_completion_tokens":4,"messages":[{"role":"user","content":"What is the capital of France?"}]}`,
		"/v1/messages":              `{"model":"m","temperature":0,"max_tokens":4,"top_k":5,"messages":[{"role":"user","content":"What is the capital of France?"}]}`,
		"/v1/responses":             `{"model":"m","temperature":0,"max_output_tokens":4,"input":"What is the capital of France?"}`,
		"/v1/messages/count_tokens": `{"model":"m","messages":[{"role":"user","content":"What is the capital of France?"}]}`,
	} {
		for _, stream := range []string{"}", `,"stream":true}`} {
			if strings.HasSuffix(path, "count_tokens") && stream != "}" {
				continue
			}
			w := post(t, far, path, strings.TrimSuffix(body, "}")+stream)
			t.Logf("%s: %s", path, w.Body)
			if w.Code != 200 || strings.Contains(w.Body.String(), `"error":{`) {
				t.Errorf("%s: status %d", path, w.Code)
			}
		}
	}
}
