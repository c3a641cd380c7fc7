package enginetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/diglot/diglot/engine"
)

// Run tests an engine against the contract of [engine.Engine]. It calls open for
// each subtest; open cleans up with t.Cleanup. The engine's first model must
// answer any short conversation, and continue any short raw prompt, with at
// least two tokens of text.
func Run(t *testing.T, open func(t *testing.T) engine.Engine) {
	parts := []struct {
		name string
		run  func(*testing.T, engine.Engine)
	}{
		{"models are sorted", models},
		{"a reply follows the grammar of events", reply},
		{"an unknown model is refused before anything else", unknownModel},
		{"choices are separate", choices},
		{"a limit of one token is obeyed", oneToken},
		{"a canceled request ends with its error", canceled},
		{"a reader that leaves ends the request", leaving},
		{"requests run concurrently", concurrent},
		{"the request is not changed", unchanged},
		{"what is used is told", used},
		{"a raw prompt is continued", raw},
		{"an echoed prompt begins the answer", echo},
		{"a prompt is scored without an answer", scored},
		{"the best of several answers", best},
	}
	for _, p := range parts {
		t.Run(p.name, func(t *testing.T) { p.run(t, engine.Checked(open(t))) })
	}
}

// request returns a short conversation with the engine's first model.
func request(t *testing.T, e engine.Engine) *engine.Request {
	t.Helper()
	list, err := e.Models(t.Context())
	if err != nil {
		t.Fatalf("Models: %v", err)
	}
	if len(list) == 0 {
		t.Fatal("Models: none")
	}
	limit := 16
	return &engine.Request{
		Model:     list[0].Name,
		Messages:  []engine.Message{{Role: engine.RoleUser, Parts: []engine.Part{engine.Text{Text: "Say something."}}}},
		MaxTokens: &limit,
		Choices:   1,
	}
}

// generate validates and collects a reply.
func generate(ctx context.Context, e engine.Engine, req *engine.Request) (*engine.Response, error) {
	var events []engine.Event
	for event, err := range e.Generate(ctx, req) {
		if err != nil {
			return nil, err
		}
		events = append(events, event)
	}
	if err := check(req, events); err != nil {
		return nil, err
	}
	return engine.Collect(func(yield func(engine.Event, error) bool) {
		for _, event := range events {
			if !yield(event, nil) {
				return
			}
		}
	})
}

func models(t *testing.T, e engine.Engine) {
	list, err := e.Models(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	byName := func(a, b engine.Model) int { return strings.Compare(a.Name, b.Name) }
	if len(list) == 0 || !slices.IsSortedFunc(list, byName) {
		t.Errorf("Models: %+v", list)
	}
}

func reply(t *testing.T, e engine.Engine) {
	r, err := generate(t.Context(), e, request(t, e))
	if err != nil {
		t.Fatal(err)
	}
	if r.Usage.PromptTokens < 1 || r.Usage.CompletionTokens < 1 || r.Usage.CompletionTokens > 16 {
		t.Errorf("usage %+v", r.Usage)
	}
}

func unknownModel(t *testing.T, e engine.Engine) {
	req := request(t, e)
	req.Model = "no-such-model"
	first := true
	for event, err := range e.Generate(t.Context(), req) {
		var coded *engine.Error
		if !first || !errors.As(err, &coded) || coded.Code != engine.CodeModelNotFound {
			t.Errorf("got %v, %v; want only an error with code %s", event, err, engine.CodeModelNotFound)
		}
		first = false
	}
	if first {
		t.Error("an empty sequence")
	}
}

func choices(t *testing.T, e engine.Engine) {
	req := request(t, e)
	req.Choices = 3
	r, err := generate(t.Context(), e, req)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Choices) != 3 {
		t.Errorf("%d choices, want 3", len(r.Choices))
	}
}

func oneToken(t *testing.T, e engine.Engine) {
	req := request(t, e)
	limit := 1
	req.MaxTokens = &limit
	r, err := generate(t.Context(), e, req)
	if err != nil {
		t.Fatal(err)
	}
	if r.Usage.CompletionTokens != 1 || r.Choices[0].Reason != engine.FinishMaxTokens {
		t.Errorf("%d tokens, reason %q", r.Usage.CompletionTokens, r.Choices[0].Reason)
	}
}

func canceled(t *testing.T, e engine.Engine) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	for _, err := range e.Generate(ctx, request(t, e)) {
		if last != nil {
			t.Error("the sequence goes on after an error")
		}
		last = err
		cancel()
	}
	var coded *engine.Error
	if !errors.As(last, &coded) || coded.Code != engine.CodeCanceled {
		t.Errorf("ends with %v, want code %s", last, engine.CodeCanceled)
	}
	alive(t, e)
}

func leaving(t *testing.T, e engine.Engine) {
	for _, n := range []int{1, 2} {
		req := request(t, e)
		req.Choices = n
		for range 2 {
			for range e.Generate(t.Context(), req) {
				break
			}
		}
	}
	alive(t, e)
}

// alive checks that the engine still answers.
func alive(t *testing.T, e engine.Engine) {
	t.Helper()
	if _, err := generate(t.Context(), e, request(t, e)); err != nil {
		t.Errorf("the next request: %v", err)
	}
}

func concurrent(t *testing.T, e engine.Engine) {
	const n = 8
	req := request(t, e)
	failures := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { _, failures[i] = generate(t.Context(), e, req) })
	}
	all.Wait()
	if err := errors.Join(failures...); err != nil {
		t.Error(err)
	}
}

func used(t *testing.T, e engine.Engine) {
	req := request(t, e)
	req.Sampling = engine.Sampling{Temperature: new(0.25), TopP: new(0.5), Seed: new(int64(7))}
	r, err := generate(t.Context(), e, req)
	if err != nil {
		t.Fatal(err)
	}
	for p := range engine.SamplingParams() {
		if want, got := p.Get(&req.Sampling), p.Get(&r.Used.Sampling); want != nil && got != want {
			t.Errorf("%s is used with %v, want %v", p.Name, got, want)
		}
	}
	if r.Used.MaxTokens == nil || *r.Used.MaxTokens != *req.MaxTokens {
		t.Errorf("the most tokens are %v, want %d", r.Used.MaxTokens, *req.MaxTokens)
	}
}

func unchanged(t *testing.T, e engine.Engine) {
	req := request(t, e)
	req.Stop = []string{"never to be found"}
	before := fmt.Sprintf("%#v %#v", *req, req.Messages)
	if _, err := generate(t.Context(), e, req); err != nil {
		t.Fatal(err)
	}
	if after := fmt.Sprintf("%#v %#v", *req, req.Messages); after != before {
		t.Errorf("the request was\n%s and is\n%s", before, after)
	}
}
