package chat

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/format"
	"github.com/diglot/diglot/engine/chat/prompt"
	"github.com/diglot/diglot/engine/chat/template"
	"github.com/diglot/diglot/engine/enginetest"
)

// fakeModel plays pieces. It counts a prompt by its words.
type fakeModel struct {
	info    Info
	pieces  []string
	end     End
	broken  error               // yielded instead of the end
	cached  []int               // by choice; nil: 1 for each
	jobs    atomic.Pointer[Job] // the last job
	running atomic.Int32

	vectors  [][]float32
	embedded [][]int32 // the last inputs
}

func (m *fakeModel) Info() Info { return m.info }

func (m *fakeModel) Tokenize(_ context.Context, p prompt.Prompt) ([]int32, error) {
	return make([]int32, len(strings.Fields(p.String()))), nil
}

func (m *fakeModel) Decode(ctx context.Context, job Job) iter.Seq2[Piece, error] {
	return func(yield func(Piece, error) bool) {
		m.running.Add(1)
		defer m.running.Add(-1)
		m.jobs.Store(&job)
		cached := 1
		if m.cached != nil {
			cached = m.cached[job.Choice]
		}
		for i, p := range m.pieces {
			if err := ctx.Err(); err != nil {
				yield(Piece{}, engine.AsError(err))
				return
			}
			if i == job.MaxTokens {
				yield(Piece{End: EndLength, Cached: cached}, nil)
				return
			}
			if job.Constraint != nil && !job.Constraint.Accept([]byte(p)) {
				yield(Piece{}, errors.New("forbidden by the constraint: "+p))
				return
			}
			if !yield(Piece{Bytes: []byte(p), Logprob: -float64(i), Cached: cached}, nil) {
				return
			}
		}
		switch {
		case m.broken != nil:
			yield(Piece{}, m.broken)
		case m.end != EndNone:
			yield(Piece{End: m.end, Cached: cached}, nil)
		}
	}
}

func (m *fakeModel) Close() error { return nil }

// TokenizeInput counts an input by its words.
func (m *fakeModel) TokenizeInput(_ context.Context, text string) ([]int32, error) {
	return make([]int32, len(strings.Fields(text))), nil
}

// Embed plays m.vectors.
func (m *fakeModel) Embed(_ context.Context, inputs [][]int32) ([][]float32, error) {
	m.embedded = inputs
	return m.vectors, nil
}

// fakeTemplate joins what the messages say.
type fakeTemplate struct{ opening string }

func (f fakeTemplate) Render(_ context.Context, req *engine.Request) (template.Rendering, error) {
	var b strings.Builder
	for _, m := range req.Messages {
		for _, p := range m.Parts {
			if t, ok := p.(engine.Text); ok {
				b.WriteString(string(m.Role) + " " + t.Text + " ")
			}
		}
	}
	return template.Rendering{Spans: []prompt.Span{{Text: b.String() + f.opening}}, Opening: f.opening}, nil
}

func testEngine(name, opening string, m *fakeModel) *Engine {
	m.info.Name, m.info.Format = "fake", name
	if m.info.Context == 0 {
		m.info.Context = 1000
	}
	f, ok := format.ByName(name)
	if !ok {
		panic("no format " + name) // a mistake in the test, which has no t here
	}
	return &Engine{model: m, info: m.info, special: prompt.Spellings(m.info.Control), template: fakeTemplate{opening}, canReason: true, format: f,
		random: rand.NewChaCha8([32]byte{}), constraints: newConstraintCache()}
}

func testRequest() *engine.Request {
	return &engine.Request{
		Model:    "fake",
		Messages: []engine.Message{{Role: engine.RoleUser, Parts: []engine.Part{engine.Text{Text: "Hello you"}}}},
		Choices:  1,
	}
}

// generate runs a request that must succeed.
func generate(t *testing.T, e *Engine, req *engine.Request) *engine.Response {
	t.Helper()
	var events []engine.Event
	for event, err := range e.Generate(t.Context(), req) {
		if err != nil {
			t.Fatalf("Generate: %v", err)
		}
		events = append(events, event)
	}
	if err := enginetest.Check(events); err != nil {
		t.Errorf("events: %v", err)
	}
	r, err := engine.Collect(func(yield func(engine.Event, error) bool) {
		for _, event := range events {
			if !yield(event, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestEngineSuite(t *testing.T) {
	m := &fakeModel{pieces: []string{"Hel", "lo", " ", "you", "!"}, end: EndOfTurn}
	enginetest.Run(t, func(t *testing.T) engine.Engine {
		t.Cleanup(func() {
			if n := m.running.Load(); n != 0 {
				t.Errorf("%d Decodes are still running", n)
			}
		})
		return testEngine("hermes", "", m)
	})
}

func TestGenerate(t *testing.T) {
	limit := func(n int) func(*engine.Request) { return func(r *engine.Request) { r.MaxTokens = &n } }
	stop := func(s ...string) func(*engine.Request) { return func(r *engine.Request) { r.Stop = s } }
	tools := func(r *engine.Request) { r.Tools = []engine.Tool{{Name: "now"}} }
	tests := []struct {
		name    string
		opening string
		pieces  []string
		end     End
		change  func(*engine.Request)
		want    engine.Choice
		usage   engine.Usage
	}{
		{"text", "", []string{"Hel", "lo"}, EndOfTurn, nil,
			engine.Choice{Blocks: []engine.Block{text("Hello")}, Reason: engine.FinishEndOfTurn},
			engine.Usage{PromptTokens: 3, CachedTokens: 1, CompletionTokens: 2}},
		{"the model's limit", "", []string{"Hel", "lo"}, EndLength, nil,
			engine.Choice{Blocks: []engine.Block{text("Hello")}, Reason: engine.FinishMaxTokens},
			engine.Usage{PromptTokens: 3, CachedTokens: 1, CompletionTokens: 2}},
		{"the request's limit", "", []string{"Hel", "lo"}, EndOfTurn, limit(1),
			engine.Choice{Blocks: []engine.Block{text("Hel")}, Reason: engine.FinishMaxTokens},
			engine.Usage{PromptTokens: 3, CachedTokens: 1, CompletionTokens: 1}},
		{"a limit of nothing", "", []string{"Hel", "lo"}, EndOfTurn, limit(0),
			engine.Choice{Reason: engine.FinishMaxTokens},
			engine.Usage{PromptTokens: 3}},
		{"stop string over pieces", "", []string{"a ST", "O", "Pb", "c"}, EndOfTurn, stop("x", "STOP"),
			engine.Choice{Blocks: []engine.Block{text("a ")}, Reason: engine.FinishStopSequence, StopSequence: "STOP"},
			engine.Usage{PromptTokens: 3, CachedTokens: 1, CompletionTokens: 3}},
		{"stop string at once", "", []string{"STOP"}, EndOfTurn, stop("STOP"),
			engine.Choice{Reason: engine.FinishStopSequence, StopSequence: "STOP"},
			engine.Usage{PromptTokens: 3, CachedTokens: 1, CompletionTokens: 1}},
		{"beginning of a stop string", "", []string{"a ST", "O"}, EndOfTurn, stop("STOP"),
			engine.Choice{Blocks: []engine.Block{text("a STO")}, Reason: engine.FinishEndOfTurn},
			engine.Usage{PromptTokens: 3, CachedTokens: 1, CompletionTokens: 2}},
		{"stop string of white space", "", []string{"a\n", "\n", "b"}, EndOfTurn, stop("\n\n"),
			engine.Choice{Blocks: []engine.Block{text("a")}, Reason: engine.FinishStopSequence, StopSequence: "\n\n"},
			engine.Usage{PromptTokens: 3, CachedTokens: 1, CompletionTokens: 2}},
		{"no stop in reasoning", "<think>\n", []string{"a STOP", "</think>", "b", "STOP"}, EndOfTurn, stop("STOP"),
			engine.Choice{Blocks: []engine.Block{reasoning("a STOP"), text("b")}, Reason: engine.FinishStopSequence, StopSequence: "STOP"},
			engine.Usage{PromptTokens: 4, CachedTokens: 1, CompletionTokens: 4, ReasoningTokens: 1}},
		{"no stop in arguments", "", []string{"<tool_call>\n", `{"name": "now", "arguments": `, `{}`, `}`, "\n</tool_call>"}, EndOfTurn,
			func(r *engine.Request) { tools(r); r.Stop = []string{"{}"} },
			engine.Choice{Blocks: []engine.Block{callID("*", "now", "{}")}, Reason: engine.FinishToolCalls},
			engine.Usage{PromptTokens: 3, CachedTokens: 1, CompletionTokens: 5}},
		{"a cut call", "", []string{"<tool_call>\n", `{"name": "now", "arguments": `, `{`}, EndLength, tools,
			engine.Choice{Blocks: []engine.Block{callID("*", "now", "{")}, Reason: engine.FinishMaxTokens},
			engine.Usage{PromptTokens: 3, CachedTokens: 1, CompletionTokens: 3}},
		{"reasoning is counted", "", []string{"<think>", "\n", "a", " b", "\n", "</think>", "\n\n", "c"}, EndOfTurn, nil,
			engine.Choice{Blocks: []engine.Block{reasoning("a b"), text("c")}, Reason: engine.FinishEndOfTurn},
			engine.Usage{PromptTokens: 3, CachedTokens: 1, CompletionTokens: 8, ReasoningTokens: 3}},
		{"a character in two tokens", "", []string{"\xe2\x82", "\xac"}, EndOfTurn, nil,
			engine.Choice{Blocks: []engine.Block{text("€")}, Reason: engine.FinishEndOfTurn},
			engine.Usage{PromptTokens: 3, CachedTokens: 1, CompletionTokens: 2}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m := &fakeModel{pieces: test.pieces, end: test.end}
			req := testRequest()
			if test.change != nil {
				test.change(req)
			}
			r := generate(t, testEngine("hermes", test.opening, m), req)
			hideIDs(t, r)
			if diff := cmp.Diff([]engine.Choice{test.want}, r.Choices); diff != "" {
				t.Errorf("choices (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.usage, r.Usage); diff != "" {
				t.Errorf("usage (-want +got):\n%s", diff)
			}
		})
	}
}

// hideIDs checks the ids of calls and makes them all the same.
func hideIDs(t *testing.T, r *engine.Response) {
	t.Helper()
	for _, c := range r.Choices {
		for i := range c.Blocks {
			if b := &c.Blocks[i]; b.Kind == engine.BlockToolCall {
				if len(b.CallID) != idLength {
					t.Errorf("id %q", b.CallID)
				}
				b.CallID = "*"
			}
		}
	}
}

func TestChoices(t *testing.T) {
	// The second choice was the first to read the prompt: the others took it
	// over, which is no saving of the request as a whole.
	m := &fakeModel{pieces: []string{"a", "b"}, end: EndOfTurn, cached: []int{2, 1, 2}}
	req := testRequest()
	req.Choices = 3
	r := generate(t, testEngine("plain", "", m), req)
	for i, c := range r.Choices {
		if len(c.Blocks) != 1 || c.Blocks[0].Text != "ab" {
			t.Errorf("choice %d: %+v", i, c)
		}
	}
	if r.Usage != (engine.Usage{PromptTokens: 3, CachedTokens: 1, CompletionTokens: 6}) {
		t.Errorf("usage %+v", r.Usage)
	}
}

func TestBrokenModel(t *testing.T) {
	for _, n := range []int{1, 3} {
		for name, m := range map[string]*fakeModel{
			"error":  {pieces: []string{"a"}, broken: engine.Errorf(engine.CodeEngineCrashed, "The model's process ended.")},
			"no end": {pieces: []string{"a"}},
		} {
			want := engine.CodeEngineCrashed
			if m.broken == nil {
				want = engine.CodeInternal
			}
			req := testRequest()
			req.Choices = n
			var last error
			for _, err := range testEngine("plain", "", m).Generate(t.Context(), req) {
				if last != nil {
					t.Errorf("%s, %d choices: goes on after its error", name, n)
				}
				last = err
			}
			var coded *engine.Error
			if !errors.As(last, &coded) || coded.Code != want {
				t.Errorf("%s, %d choices: %v, want code %s", name, n, last, want)
			}
			if left := m.running.Load(); left != 0 {
				t.Errorf("%s, %d choices: %d Decodes run on", name, n, left)
			}
		}
	}
}

func TestRefused(t *testing.T) {
	image := engine.Image{URL: "https://example.com/a.png"}
	tests := []struct {
		name   string
		change func(*engine.Request)
		code   engine.Code
		place  engine.Place
	}{
		{"other model", func(r *engine.Request) { r.Model = "other" }, engine.CodeModelNotFound, engine.Place{Field: engine.FieldModel}},
		{"image", func(r *engine.Request) {
			r.Messages = append(r.Messages, engine.Message{Role: engine.RoleUser, Parts: []engine.Part{image}})
		}, engine.CodeUnsupported, engine.Place{Field: engine.FieldMessages, Index: 1}},
		{"image in a result", func(r *engine.Request) {
			r.Messages = append(r.Messages, engine.Message{Role: engine.RoleTool,
				Parts: []engine.Part{engine.ToolResult{Parts: []engine.Part{image}}}})
		}, engine.CodeUnsupported, engine.Place{Field: engine.FieldMessages, Index: 1}},
		{"broken tool schema", func(r *engine.Request) {
			r.Tools = []engine.Tool{{Name: "a"}, {Name: "b", Parameters: []byte(`{"type":"object","properties":{"x":{"type":"nothing"}}}`)}}
		}, engine.CodeInvalidArgument, engine.Place{Field: engine.FieldTools, Index: 1, Path: "/properties/x"}},
		{"prompt too long", func(r *engine.Request) {
			r.Messages[0].Parts = []engine.Part{engine.Text{Text: strings.Repeat("x ", 1000)}}
		}, engine.CodeContextLength, engine.Place{Field: engine.FieldMessages}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			req := testRequest()
			test.change(req)
			for event, err := range testEngine("hermes", "", &fakeModel{end: EndOfTurn}).Generate(t.Context(), req) {
				var coded *engine.Error
				if !errors.As(err, &coded) {
					t.Fatalf("got %v, %v, want an error", event, err)
				}
				if coded.Code != test.code || coded.Place.Field != test.place.Field || coded.Place.Index != test.place.Index ||
					!strings.HasPrefix(coded.Place.Path, test.place.Path) {
					t.Errorf("%v at %+v; want %s at %+v", coded, coded.Place, test.code, test.place)
				}
			}
		})
	}
}

func TestLogprobs(t *testing.T) {
	pieces := []string{"<think>", "hm", "</think>", "\n\n", "One", " two", " ", "three", "."}
	n := 0
	for name, formatName := range map[string]string{"with reasoning": "hermes", "plain": "plain"} {
		t.Run(name, func(t *testing.T) {
			req := testRequest()
			req.Logprobs = &n
			r := generate(t, testEngine(formatName, "", &fakeModel{pieces: pieces, end: EndOfTurn}), req)
			blocks := r.Choices[0].Blocks
			last := blocks[len(blocks)-1]
			var tokens []byte
			for _, token := range last.Logprobs {
				tokens = append(tokens, token.Token...)
			}
			if last.Text == "" || !bytes.Equal(tokens, []byte(last.Text)) {
				t.Errorf("the tokens say %q, the text %q", tokens, last.Text)
			}
		})
	}
}

func TestLogprobsBeforeStop(t *testing.T) {
	n := 0
	req := testRequest()
	req.Logprobs, req.Stop = &n, []string{"STOP"}
	r := generate(t, testEngine("plain", "", &fakeModel{pieces: []string{"a", "b S", "TO", "P", "c"}, end: EndOfTurn}), req)
	var got []string
	for _, token := range r.Choices[0].Blocks[0].Logprobs {
		got = append(got, string(token.Token))
	}
	if diff := cmp.Diff([]string{"a", "b S"}, got); diff != "" {
		t.Errorf("tokens (-want +got):\n%s", diff)
	}
}
