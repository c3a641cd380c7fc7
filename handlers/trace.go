package handlers

import (
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/handlers/internal/exchange"
	"github.com/diglot/diglot/internal/plainjson"
)

// tracer appends one JSON line per request to a file: its neutral form and the prompt.
type tracer struct {
	mu  sync.Mutex
	out io.Writer // nil: no trace
	log *slog.Logger
}

type traceLine struct {
	Time      time.Time     `json:"time"`
	RequestID string        `json:"request_id"`
	Operation string        `json:"operation"`
	Status    int           `json:"status"`
	Model     string        `json:"model"`
	Request   *traceRequest `json:"request"`
	Prompt    string        `json:"prompt"`
	Usage     traceUsage    `json:"usage"`
}

type traceUsage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CachedTokens     int `json:"cached_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	ReasoningTokens  int `json:"reasoning_tokens"`
}

// traceRequest is engine.Request with messages whose parts keep their kind.
type traceRequest struct {
	*engine.Request
	Messages []traceMessage
}

type traceMessage struct {
	Role  engine.Role
	Name  string `json:",omitempty"`
	Parts []tracePart
}

type tracePart struct {
	Kind string
	Part any
}

func (t *tracer) write(start time.Time, x *exchange.Exchange, status int) {
	if t.out == nil {
		return
	}
	f := x.Facts()
	line := traceLine{Time: start.UTC(), RequestID: x.ID, Operation: f.Operation, Model: f.Model, Status: status, Prompt: f.Prompt, Usage: traceUsage(f.Usage)}
	if f.Request != nil {
		line.Request = &traceRequest{f.Request, traceMessages(f.Request.Messages)}
	}
	b, err := plainjson.Marshal(line)
	if err != nil {
		t.log.Error("trace", "request_id", x.ID, "error", err)
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, err := t.out.Write(append(b, '\n')); err != nil {
		t.log.Error("trace", "request_id", x.ID, "error", err)
	}
}

func traceMessages(messages []engine.Message) []traceMessage {
	out := make([]traceMessage, len(messages))
	for i, m := range messages {
		out[i] = traceMessage{m.Role, m.Name, traceParts(m.Parts)}
	}
	return out
}

func traceParts(parts []engine.Part) []tracePart {
	out := make([]tracePart, len(parts))
	for i, p := range parts {
		out[i] = tracePartOf(p)
	}
	return out
}

func tracePartOf(part engine.Part) tracePart {
	switch p := part.(type) {
	case engine.Text:
		return tracePart{"text", p}
	case engine.ReasoningText:
		return tracePart{"reasoning", p}
	case engine.ToolCall:
		return tracePart{"tool_call", p}
	case engine.ToolResult:
		return tracePart{"tool_result", struct {
			CallID, Name string
			Parts        []tracePart
			IsError      bool
		}{p.CallID, p.Name, traceParts(p.Parts), p.IsError}}
	case engine.Image:
		// The data would drown the trace.
		return tracePart{"image", struct {
			MediaType, URL string
			Bytes          int
		}{p.MediaType, p.URL, len(p.Data)}}
	}
	return tracePart{fmt.Sprintf("%T", part), nil}
}
