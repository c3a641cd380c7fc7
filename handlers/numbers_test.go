package handlers_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/handlers"
	"github.com/diglot/diglot/handlers/handlerstest"
	"github.com/diglot/diglot/openapi"
)

// TestLimits checks the spellings of a token limit in every operation, and that a huge one
// means no limit.
func TestLimits(t *testing.T) {
	operations := []struct{ path, body string }{
		{"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"u"}],"max_tokens":%s}`},
		{"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"u"}],"max_completion_tokens":%s}`},
		{"/v1/completions", `{"model":"m","prompt":"p","max_tokens":%s}`},
		{"/v1/responses", `{"model":"m","input":"u","max_output_tokens":%s}`},
		{"/v1/messages", `{"model":"m","messages":[{"role":"user","content":"u"}],"max_tokens":%s}`},
	}
	spellings := []struct {
		number string
		want   int // 0: it is refused
	}{
		{"1000", 1000}, {"1e3", 1000}, {"1E+3", 1000}, {"10000e-1", 1000}, {"256.0", 256}, {"2.56e2", 256}, {"1.000000000000000000000", 1},
		{"2147483647", math.MaxInt32}, {"2147483648", math.MaxInt32}, {"4294967297", math.MaxInt32}, {"1e15", math.MaxInt32},
		{"9007199254740992", math.MaxInt32}, {"9007199254740992.0", math.MaxInt32},
		{"9007199254740994", 0}, {"9223372036854775808", 0}, {"1e16", 0}, {"1e999999999", 0}, {"-1", 0}, {"1.5", 0}, {"1e-1", 0}, {`"1"`, 0}, {"true", 0},
	}
	e := &handlerstest.Engine{Name: "m", Events: handlerstest.Text("x")}
	h := newHandler(t, handlers.Config{Engine: e})
	for _, o := range operations {
		for _, s := range spellings {
			e.Asked = nil
			w := post(t, h, o.path, fmt.Appendf(nil, o.body, s.number))
			switch {
			case s.want == 0 && w.Code != 400:
				t.Errorf("%s, %s: status %d, want 400", o.body, s.number, w.Code)
			case s.want != 0 && (w.Code != 200 || *e.Asked.MaxTokens != s.want):
				t.Errorf("%s, %s: status %d, the engine is asked for %v, want %d\n%s", o.body, s.number, w.Code, e.Asked, s.want, w.Body)
			}
		}
	}
}

// TestIntegers checks the same spellings for other integers.
func TestIntegers(t *testing.T) {
	const chat = `{"model":"m","messages":[{"role":"user","content":"u"}],`
	const message = `{"model":"m","max_tokens":8,"messages":[{"role":"user","content":"u"}],`
	tests := []struct {
		path, body string
		got        func(*engine.Request) any
		want       any
	}{
		{"/v1/chat/completions", chat + `"n":2e0}`, func(r *engine.Request) any { return r.Choices }, 2},
		{"/v1/chat/completions", chat + `"seed":-0.0}`, func(r *engine.Request) any { return *r.Sampling.Seed }, int64(0)},
		{"/v1/chat/completions", chat + `"seed":1e18}`, func(r *engine.Request) any { return *r.Sampling.Seed }, int64(1e18)},
		{"/v1/chat/completions", chat + `"logprobs":true,"top_logprobs":3.0}`, func(r *engine.Request) any { return *r.Logprobs }, 3},
		{"/v1/completions", `{"model":"m","prompt":"p","n":1.0,"best_of":3.0,"logprobs":5e0,"seed":7.0}`, func(r *engine.Request) any { return r.BestOf + *r.Logprobs }, 8},
		{"/v1/completions", `{"model":"m","prompt":"p","max_tokens":0e9}`, func(r *engine.Request) any { return *r.MaxTokens }, 0},
		{"/v1/responses", `{"model":"m","input":"u","top_logprobs":2.0}`, func(r *engine.Request) any { return *r.Logprobs }, 2},
		{"/v1/messages", message + `"top_k":4e1}`, func(r *engine.Request) any { return *r.Sampling.TopK }, 40},
		{"/v1/messages", message + `"top_k":5000000000}`, func(r *engine.Request) any { return *r.Sampling.TopK }, math.MaxInt32},
		{"/v1/messages", message + `"thinking":{"type":"enabled","budget_tokens":5e9}}`, func(r *engine.Request) any { return string(r.Reasoning.Mode) }, string(engine.ReasoningOn)},
	}
	e := &handlerstest.Engine{Name: "m", Events: handlerstest.Text("x")}
	h := newHandler(t, handlers.Config{Engine: e})
	for _, tt := range tests {
		e.Asked = nil
		w := post(t, h, tt.path, []byte(tt.body))
		if w.Code != 200 || e.Asked == nil || tt.got(e.Asked) != tt.want {
			t.Errorf("%s: status %d, want %v asked for\n%s", tt.body, w.Code, tt.want, w.Body)
		}
	}
	for _, body := range []string{`{"model":"m","input":[1.0,2e0]}`, `{"model":"m","input":[[1],[2.0]],"dimensions":1e0}`} {
		if w := post(t, h, "/v1/embeddings", []byte(body)); w.Code != 200 {
			t.Errorf("%s: status %d\n%s", body, w.Code, w.Body)
		}
	}
	if w := post(t, newHandler(t, handlers.Config{Engine: playing(t, imageModels)}), "/v1/images/generations", []byte(`{"model":"card","prompt":"p","size":"16x16","n":2.0,"partial_images":0.0}`)); w.Code != 200 || strings.Count(w.Body.String(), "b64_json") != 2 {
		t.Errorf("images: status %d\n%.300s", w.Code, w.Body)
	}
}

// TestIntegersFit checks that every integer of a request has a type that holds it on any
// machine: beyond 32 bits it needs int64.
func TestIntegersFit(t *testing.T) {
	for _, d := range documents(t) {
		for _, o := range d.Operations() {
			if o.Body == nil {
				continue
			}
			seen := map[*openapi.Schema]bool{}
			checkIntegers(t, o.ID, o.Body, seen)
			if len(seen) < 3 {
				t.Errorf("%s: %d schemas were seen", o.ID, len(seen))
			}
		}
	}
}

func checkIntegers(t *testing.T, name string, u *openapi.Use, seen map[*openapi.Schema]bool) {
	s := u.Schema
	if seen[s] || u.Mark.Server == openapi.SupportIgnored || u.Mark.Server == openapi.SupportRefused {
		return
	}
	seen[s] = true
	small := s.Maximum != nil && *s.Maximum <= math.MaxInt32 && s.Minimum != nil && *s.Minimum >= math.MinInt32
	if s.Kinds&openapi.Integer != 0 && s.Kinds&openapi.Number == 0 && s.Format != "int64" && !small {
		t.Errorf("%s: a whole number without bounds that fit 32 bits and without format: int64", name)
	}
	for i := range s.Properties {
		checkIntegers(t, name+"."+s.Properties[i].Name, &s.Properties[i].Use, seen)
	}
	for i := range s.Union {
		checkIntegers(t, name, &s.Union[i], seen)
	}
	for _, below := range []*openapi.Use{s.Items, s.Additional} {
		if below != nil {
			checkIntegers(t, name+"[]", below, seen)
		}
	}
}
