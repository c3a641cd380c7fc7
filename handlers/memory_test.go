//go:build !race

// Allocations are counted to the byte, and the race detector makes more: under it a pool
// drops a part of what it is given.

package handlers_test

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/handlers"
	"github.com/diglot/diglot/handlers/handlerstest"
	"github.com/diglot/diglot/openapi"
)

// times is a list of n units.
func times(n int, unit string) string {
	return strings.TrimSuffix(strings.Repeat(unit+",", n), ",")
}

// numbered is a list of n units that differ.
func numbered(n int, format string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// Beginnings of requests.
const (
	chatMessages     = `{"model":"m","messages":[`
	responseItems    = `{"model":"m","input":[`
	anthropicMessage = `{"model":"m","max_tokens":8,"messages":[`
	smallMessage     = `{"role":"user","content":"u"}`
	chatTool         = chatMessages + smallMessage + `],"tools":[{"type":"function","function":{"name":"t","parameters":`
	toolUse          = `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"a","input":{}}]}`
)

// heavy are bodies that grow most when decoded: many small values within the documents'
// limits, and long strings.
var heavy = []struct {
	name, path string
	body       func() string
}{
	{"chat: messages", "/v1/chat/completions", func() string { return chatMessages + times(20000, smallMessage) + `]}` }},
	{"chat: parts", "/v1/chat/completions", func() string {
		return chatMessages + times(4, `{"role":"user","content":[`+times(9999, `{"type":"text","text":""}`)+`]}`) + `]}`
	}},
	{"chat: calls", "/v1/chat/completions", func() string {
		return chatMessages + times(20, `{"role":"assistant","tool_calls":[`+times(1024, `{"id":"a","type":"function","function":{"name":"a","arguments":""}}`)+`]}`) + `]}`
	}},
	{"chat: tools", "/v1/chat/completions", func() string {
		return chatMessages + smallMessage + `],"tools":[` + numbered(512, `{"type":"function","function":{"name":"t%d"}}`) + `]}`
	}},
	{"chat: logit_bias", "/v1/chat/completions", func() string {
		return chatMessages + smallMessage + `],"logit_bias":{` + numbered(10000, `"%d":1.0`) + `}}`
	}},
	{"chat: a list in a schema", "/v1/chat/completions", func() string { return chatTool + `{"enum":[` + times(200000, "1") + `]}}}]}` }},
	{"chat: names in a schema", "/v1/chat/completions", func() string { return chatTool + `{` + numbered(100000, `"%d":1`) + `}}}]}` }},
	{"chat: nested lists", "/v1/chat/completions", func() string {
		return chatTool + `{"x":[` + times(500, strings.Repeat("[", 400)+strings.Repeat("]", 400)) + `]}}}]}`
	}},
	{"chat: unknown members", "/v1/chat/completions", func() string { return chatMessages + smallMessage + `],` + numbered(100000, `"z%d":1`) + `}` }},
	{"chat: unknown members of each message", "/v1/chat/completions", func() string {
		return chatMessages + times(10000, `{"role":"user","content":"u",`+numbered(10, `"z%d":1`)+`}`) + `]}`
	}},
	{"responses: items", "/v1/responses", func() string { return responseItems + times(20000, smallMessage) + `]}` }},
	{"responses: parts", "/v1/responses", func() string {
		return responseItems + times(4, `{"role":"user","content":[`+times(9999, `{"type":"input_text","text":""}`)+`]}`) + `]}`
	}},
	{"responses: annotations", "/v1/responses", func() string {
		return responseItems + times(10, `{"role":"assistant","content":[{"type":"output_text","text":"","annotations":[`+times(9999, `{}`)+`]}]}`) + `]}`
	}},
	{"responses: thinking", "/v1/responses", func() string {
		return responseItems + times(4, `{"type":"reasoning","id":"a","summary":[`+times(9999, `{"type":"summary_text","text":""}`)+`]}`) + `]}`
	}},
	{"completions: logit_bias", "/v1/completions", func() string { return `{"model":"m","prompt":"p","logit_bias":{` + numbered(10000, `"%d":1`) + `}}` }},
	{"embeddings: texts", "/v1/embeddings", func() string { return `{"model":"m","input":[` + times(2048, `"x"`) + `]}` }},
	{"embeddings: tokens", "/v1/embeddings", func() string {
		return `{"model":"m","input":[` + times(1000, `[`+times(200, "1.0")+`]`) + `]}`
	}},
	{"messages: messages", "/v1/messages", func() string { return anthropicMessage + times(20000, smallMessage) + `]}` }},
	{"messages: blocks", "/v1/messages", func() string {
		return anthropicMessage + times(4, `{"role":"user","content":[`+times(9999, `{"type":"text","text":"","cache_control":{"type":"ephemeral"}}`)+`]}`) + `]}`
	}},
	{"messages: results", "/v1/messages", func() string {
		return anthropicMessage + toolUse + `,` + times(4, `{"role":"user","content":[`+times(9999, `{"type":"tool_result","tool_use_id":"a"}`)+`]}`) + `]}`
	}},
	{"messages: blocks of results", "/v1/messages", func() string {
		return anthropicMessage + toolUse + `,{"role":"user","content":[` + times(4, `{"type":"tool_result","tool_use_id":"a","content":[`+times(9999, `{"type":"text","text":""}`)+`]}`) + `]}]}`
	}},
	{"count_tokens: messages", "/v1/messages/count_tokens", func() string { return `{"model":"m","messages":[` + times(20000, smallMessage) + `]}` }},

	{"chat: a long text", "/v1/chat/completions", func() string {
		return chatMessages + `{"role":"user","content":"` + strings.Repeat("x", 4<<20) + `"}]}`
	}},
	{"chat: a long text in a part", "/v1/chat/completions", func() string {
		return chatMessages + `{"role":"user","content":[{"type":"text","text":"` + strings.Repeat("x", 4<<20) + `"}]}]}`
	}},
	{"chat: escapes", "/v1/chat/completions", func() string {
		return chatMessages + `{"role":"user","content":"` + strings.Repeat(`\n`, 2<<20) + `"}]}`
	}},
	{"chat: halves of characters, beside what is ignored", "/v1/chat/completions", func() string {
		return chatMessages + `{"zz":1,"role":"user","content":"` + strings.Repeat(`\ud83d`, 700000) + `"}]}`
	}},
	{"chat: long arguments", "/v1/chat/completions", func() string {
		return chatMessages + `{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"a","arguments":"` + strings.Repeat("x", 4<<20) + `"}}]}]}`
	}},
	{"chat: an image", "/v1/chat/completions", func() string {
		return chatMessages + `{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,` + strings.Repeat("AAAA", 1<<20) + `"}}]}]}`
	}},
	{"responses: a long output", "/v1/responses", func() string {
		return responseItems + `{"type":"function_call","call_id":"a","name":"a","arguments":"{}"},{"type":"function_call_output","call_id":"a","output":"` + strings.Repeat("x", 4<<20) + `"}]}`
	}},
	{"completions: a long prompt", "/v1/completions", func() string { return `{"model":"m","prompt":"` + strings.Repeat("x", 4<<20) + `"}` }},
	{"embeddings: a long text", "/v1/embeddings", func() string { return `{"model":"m","input":"` + strings.Repeat("x", 4<<20) + `"}` }},
	{"messages: a long result", "/v1/messages", func() string {
		return anthropicMessage + toolUse + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"` + strings.Repeat("x", 4<<20) + `"}]}]}]}`
	}},
	{"messages: an image", "/v1/messages", func() string {
		return anthropicMessage + `{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + strings.Repeat("AAAA", 1<<20) + `"}}]}]}`
	}},
}

// TestMemoryOfBodies checks what a body takes until the engine has it: live memory beside
// its bytes is at most three times as much, and all allocations at most twice the
// reservation, half of them garbage.
func TestMemoryOfBodies(t *testing.T) {
	const little = 1 << 20 // what a small request takes is not what this is about
	for _, tt := range heavy {
		t.Run(tt.name, func(t *testing.T) {
			e := &scales{Engine: handlerstest.Engine{Name: "m", Events: handlerstest.Text("x")}}
			h, err := handlers.New(handlers.Config{Engine: e, Log: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			body := []byte(tt.body())
			wire, values := int64(len(body)), int64(openapi.CountValues(body))
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, tt.path, bytes.NewReader(body))
			r.Host = "localhost"
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			e.start()
			h.ServeHTTP(w, r)
			if !e.asked {
				t.Fatalf("status %d: the engine was not asked\n%.500s", w.Code, w.Body)
			}
			if decoded := e.held - wire; decoded > 3*wire+little {
				t.Errorf("%d bytes with %d values hold %d more", wire, values, decoded)
			}
			if reserved := 4*wire + 64*values; e.made > 2*reserved+little {
				t.Errorf("%d bytes with %d values had %d made, and %d reserved", wire, values, e.made, reserved)
			}
			runtime.KeepAlive(body)
		})
	}
}

// scales is an engine that measures memory when it is asked.
type scales struct {
	handlerstest.Engine
	before     runtime.MemStats
	held, made int64 // bytes
	asked      bool
}

func (e *scales) start() {
	runtime.GC()
	runtime.ReadMemStats(&e.before)
}

func (e *scales) weigh() {
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	e.made = int64(now.TotalAlloc - e.before.TotalAlloc)
	runtime.GC()
	runtime.ReadMemStats(&now)
	e.held = int64(now.HeapAlloc) - int64(e.before.HeapAlloc)
	e.asked = true
}

func (e *scales) Generate(ctx context.Context, req *engine.Request) iter.Seq2[engine.Event, error] {
	e.weigh()
	return e.Engine.Generate(ctx, req)
}

func (e *scales) Count(ctx context.Context, req *engine.Request) (int, error) {
	e.weigh()
	return e.Engine.Count(ctx, req)
}

func (e *scales) Embed(ctx context.Context, req *engine.EmbeddingRequest) (*engine.Embeddings, error) {
	e.weigh()
	return e.Engine.Embed(ctx, req)
}
