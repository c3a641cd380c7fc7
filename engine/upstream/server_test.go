package upstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/diglot/diglot/engine"
)

// peer is a server that answers as a test says, and remembers what it was
// asked.
type peer struct {
	mu       sync.Mutex
	requests []asked
	waits    []time.Duration // between tries
}

type asked struct {
	path, body string
	header     http.Header
}

func (p *peer) all() []asked {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]asked(nil), p.requests...)
}

func (p *peer) last() asked {
	all := p.all()
	return all[len(all)-1]
}

// serve starts a server and an engine that asks it.
func serve(t *testing.T, c Config, answer func(w http.ResponseWriter, r *http.Request, n int)) (*Engine, *peer) {
	t.Helper()
	p := &peer{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(text)))
		p.mu.Lock()
		p.requests = append(p.requests, asked{r.URL.Path, string(text), r.Header.Clone()})
		n := len(p.requests)
		p.mu.Unlock()
		answer(w, r, n)
	}))
	t.Cleanup(s.Close)
	c.BaseURL, c.HTTP, c.Log = s.URL+"/v1", s.Client(), slog.New(slog.DiscardHandler)
	if c.Model == "" {
		c.Model = "m"
	}
	e, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	e.wait = func(ctx context.Context, d time.Duration) error {
		p.waits = append(p.waits, d)
		return ctx.Err()
	}
	return e, p
}

// stream answers with frames, one for each line of data; a line that begins
// with a colon is a comment.
func stream(w http.ResponseWriter, lines ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, line := range lines {
		if !strings.HasPrefix(line, ":") && !strings.HasPrefix(line, "error:") && !strings.HasPrefix(line, "event:") {
			line = "data: " + line
		}
		fmt.Fprint(w, line+"\n\n")
	}
	_ = http.NewResponseController(w).Flush()
}

func status(w http.ResponseWriter, code int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	io.WriteString(w, body)
}

func ask(text string) *engine.Request {
	return &engine.Request{
		Model:    "m",
		Messages: []engine.Message{{Role: engine.RoleUser, Parts: []engine.Part{engine.Text{Text: text}}}},
		Choices:  1,
	}
}

// gather returns the events of a reply and its error.
func gather(ctx context.Context, e *Engine, req *engine.Request) ([]engine.Event, error) {
	var events []engine.Event
	for event, err := range e.Generate(ctx, req) {
		if err != nil {
			return events, err
		}
		events = append(events, event)
	}
	return events, nil
}

// show writes events as one line.
func show(events []engine.Event) string {
	var b strings.Builder
	for _, event := range events {
		switch e := event.(type) {
		case engine.Start:
			fmt.Fprintf(&b, "start:%d", e.PromptTokens)
		case engine.BlockStart:
			fmt.Fprintf(&b, " %d.%d[%s", e.Choice, e.Index, e.Kind)
			if e.Kind == engine.BlockToolCall {
				id := strings.TrimPrefix(e.CallID, rawPrefix)
				if len(id) > 20 {
					id = "made"
				}
				fmt.Fprintf(&b, " %s=%s", id, e.Name)
			}
		case engine.TextDelta:
			fmt.Fprintf(&b, " %q", e.Text)
		case engine.ReasoningDelta:
			fmt.Fprintf(&b, " %q", e.Text)
		case engine.ToolCallDelta:
			fmt.Fprintf(&b, " %s", e.Arguments)
		case engine.BlockStop:
			b.WriteString("]")
		case engine.Finish:
			fmt.Fprintf(&b, " %d:%s%s", e.Choice, e.Reason, e.StopSequence)
		case engine.Done:
			fmt.Fprintf(&b, " done:%d,%d,%d,%d", e.Usage.PromptTokens, e.Usage.CachedTokens, e.Usage.CompletionTokens, e.Usage.ReasoningTokens)
		}
	}
	return b.String()
}

func coded(t *testing.T, err error) *engine.Error {
	t.Helper()
	var e *engine.Error
	if !errors.As(err, &e) {
		t.Fatalf("the error %v has no code", err)
	}
	return e
}

func showTokens(tokens []engine.TokenLogprob) string {
	var out []string
	for _, token := range tokens {
		text := fmt.Sprintf("%q=%v", token.Token, token.Logprob)
		if len(token.Top) > 0 {
			text += " [" + showTokens(token.Top) + "]"
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}
