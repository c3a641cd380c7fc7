package conversation

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/engine"
)

// parrot is an engine that keeps what it is asked, and answers with events
// of its own.
type parrot struct {
	engine.Engine
	asked  []*engine.Request
	answer func(ctx context.Context, n int, yield func(engine.Event, error) bool) // of request n, from 0
}

func (p *parrot) Generate(ctx context.Context, req *engine.Request) iter.Seq2[engine.Event, error] {
	p.asked = append(p.asked, req)
	return func(yield func(engine.Event, error) bool) { p.answer(ctx, len(p.asked)-1, yield) }
}

// says answers each request with the same events.
func says(events ...engine.Event) *parrot {
	return &parrot{answer: func(_ context.Context, _ int, yield func(engine.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}}
}

// text is the events of an answer with thoughts and pieces of text.
func text(thoughts string, pieces ...string) []engine.Event {
	events := []engine.Event{engine.Start{PromptTokens: 3}}
	block := 0
	if thoughts != "" {
		events = append(events, engine.BlockStart{Kind: engine.BlockReasoning}, engine.ReasoningDelta{Text: thoughts}, engine.BlockStop{})
		block++
	}
	events = append(events, engine.BlockStart{Index: block, Kind: engine.BlockText})
	for _, p := range pieces {
		events = append(events, engine.TextDelta{Index: block, Text: p})
	}
	return append(events, engine.BlockStop{Index: block}, engine.Finish{Reason: engine.FinishEndOfTurn},
		engine.Done{Usage: engine.Usage{PromptTokens: 3, CachedTokens: 1, CompletionTokens: 2}})
}

// said is a conversation as "role: text" lines.
func said(messages []engine.Message) []string {
	var lines []string
	for _, m := range messages {
		line := string(m.Role) + ":"
		for _, p := range m.Parts {
			switch p := p.(type) {
			case engine.Text:
				line += " " + p.Text
			case engine.Image:
				line += " (image)"
			}
		}
		lines = append(lines, line)
	}
	return lines
}

func TestAnswers(t *testing.T) {
	for _, tt := range []struct {
		name            string
		events          []engine.Event
		person, program string
		remembered      string
	}{
		{"text", text("", "Hello", " there"), "Hello there\n", "Hello there\n", "Hello there"},
		{"thoughts", text("\nHm. ", "\n\nHello"), "\x1b[2mHm. \x1b[0m\n\nHello\n", "\n\nHello\n", "\n\nHello"},
		{"empty thoughts", text("\n\n", "Hello"), "Hello\n", "Hello\n", "Hello"},
		{"a line end of its own", text("", "Hello\n"), "Hello\n", "Hello\n", "Hello\n"},
		{"nothing", text(""), "", "", ""},
		{"what steers a terminal", text("", "\x1b]52;c;aGk=\aHi\x1b[2J"), "]52;c;aGk=Hi[2J\n", "\x1b]52;c;aGk=\aHi\x1b[2J\n", "\x1b]52;c;aGk=\aHi\x1b[2J"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, person := range []bool{true, false} {
				want := map[bool]string{true: tt.person, false: tt.program}[person]
				var out, notes bytes.Buffer
				c := New(Options{Engine: says(tt.events...), Model: "m", Screen: Screen{Answers: &out, Notes: &notes, Person: person}})
				if err := c.Ask(t.Context(), "hi", nil); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, out.String()); diff != "" {
					t.Errorf("person %t (-want +got):\n%s", person, diff)
				}
				if diff := cmp.Diff([]string{"user: hi", "assistant: " + tt.remembered}, said(c.turns)); diff != "" {
					t.Errorf("remembered (-want +got):\n%s", diff)
				}
				if notes.String() != "" {
					t.Errorf("notes: %q", notes.String())
				}
			}
		})
	}
}

func TestNotes(t *testing.T) {
	cut := append(text("", "Hel")[:4:4], engine.Finish{Reason: engine.FinishMaxTokens}, engine.Done{Usage: engine.Usage{PromptTokens: 5, CachedTokens: 2, CompletionTokens: 1}})
	var out, notes bytes.Buffer
	c := New(Options{Engine: says(cut...), Model: "m", Settings: Settings{Verbose: true}, Screen: Screen{Answers: &out, Notes: &notes}})
	if err := c.Ask(t.Context(), "hi", nil); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"cut off", "5 tokens, 2 of them cached", "answer:       1 tokens", "first token:  after ", "total: "} {
		if !strings.Contains(notes.String(), want) {
			t.Errorf("there is no %q in\n%s", want, notes.String())
		}
	}
}

func TestRequest(t *testing.T) {
	p := says(text("", "ok")...)
	c := New(Options{Engine: p, Model: "m", Settings: Settings{
		System: "Be brief.", MaxTokens: new(5), Stop: []string{"x"}, Sampling: engine.Sampling{Temperature: new(0.5)},
		Reasoning: engine.ReasoningOff, Format: engine.Format{Kind: engine.FormatJSON},
	}, Screen: Screen{Answers: io.Discard, Notes: io.Discard}})
	if err := errors.Join(c.Ask(t.Context(), "one", []engine.Image{{Data: []byte("p")}}), c.Ask(t.Context(), "two", nil)); err != nil {
		t.Fatal(err)
	}
	got := p.asked[1]
	want := []string{"system: Be brief.", "user: (image) one", "assistant: ok", "user: two"}
	if diff := cmp.Diff(want, said(got.Messages)); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	got.Messages = nil
	rest := &engine.Request{Model: "m", MaxTokens: new(5), Stop: []string{"x"}, Sampling: engine.Sampling{Temperature: new(0.5)},
		Reasoning: engine.Reasoning{Mode: engine.ReasoningOff}, Format: engine.Format{Kind: engine.FormatJSON}, Choices: 1}
	if diff := cmp.Diff(rest, got); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}

func TestAskErrors(t *testing.T) {
	long := engine.Errorf(engine.CodeContextLength, "The prompt is too long.")
	crash := engine.Errorf(engine.CodeEngineCrashed, "The model's process died.")
	for _, tt := range []struct {
		name   string
		answer func(ctx context.Context, n int, yield func(engine.Event, error) bool)
		asks   int // beside the first
		err    error
		turns  int
	}{
		{"crash", func(_ context.Context, n int, yield func(engine.Event, error) bool) { yield(nil, crash) }, 1, crash, 0},
		{"too long at once", func(_ context.Context, n int, yield func(engine.Event, error) bool) { yield(nil, long) }, 1, long, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := &parrot{answer: tt.answer}
			c := New(Options{Engine: p, Model: "m", Screen: Screen{Answers: io.Discard, Notes: io.Discard}})
			if err := c.Ask(t.Context(), "hi", nil); !errors.Is(err, tt.err) {
				t.Errorf("error %v, want %v", err, tt.err)
			}
			if len(c.turns) != tt.turns || len(p.asked) != tt.asks {
				t.Errorf("%d turns after %d requests, want %d after %d", len(c.turns), len(p.asked), tt.turns, tt.asks)
			}
		})
	}
}

// TestForget has a model that can see one question beside the last.
func TestForget(t *testing.T) {
	var notes bytes.Buffer
	p := &parrot{}
	p.answer = func(_ context.Context, n int, yield func(engine.Event, error) bool) {
		if len(p.asked[n].Messages) > 3 {
			yield(nil, engine.Errorf(engine.CodeContextLength, "too long"))
			return
		}
		for _, e := range text("", "ok") {
			yield(e, nil)
		}
	}
	c := New(Options{Engine: p, Model: "m", Screen: Screen{Answers: io.Discard, Notes: &notes}})
	for _, q := range []string{"one", "two", "three"} {
		if err := c.Ask(t.Context(), q, nil); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"user: two", "assistant: ok", "user: three", "assistant: ok"}, said(c.turns)); diff != "" {
		t.Errorf("turns (-want +got):\n%s", diff)
	}
	if strings.Count(notes.String(), "exceeds the model's context") != 1 {
		t.Errorf("notes: %s", notes.String())
	}
}

func TestStoppedAnswerIsRemembered(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p := &parrot{answer: func(ctx context.Context, _ int, yield func(engine.Event, error) bool) {
		for _, e := range text("", "half an")[:3] {
			yield(e, nil)
		}
		cancel()
		yield(nil, engine.AsError(ctx.Err()))
	}}
	var out bytes.Buffer
	c := New(Options{Engine: p, Model: "m", Screen: Screen{Answers: &out, Notes: io.Discard, Person: true}})
	if err := c.Ask(ctx, "hi", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if diff := cmp.Diff([]string{"user: hi", "assistant: half an"}, said(c.turns)); diff != "" || out.String() != "half an\n" {
		t.Errorf("shown %q; turns (-want +got):\n%s", out.String(), diff)
	}
}

func TestSettings(t *testing.T) {
	for _, tt := range []struct{ name, value, want, err string }{
		{"system", "Be brief.", "Be brief.", ""},
		{"temperature", "0.5", "0.5", ""},
		{"temperature", "", "", ""},
		{"temperature", "hot", "", `temperature is a number from 0 to 100, not "hot"`},
		{"temperature", "NaN", "", `temperature is a number from 0 to 100, not "NaN"`},
		{"top_p", "1.5", "", `top_p is a number from 0 to 1, not "1.5"`},
		{"top_k", "40", "40", ""},
		{"top_k", "-1", "", `top_k is a whole number of at least 0, not "-1"`},
		{"max_tokens", "0", "", `max_tokens is a whole number of at least 1, not "0"`},
		{"seed", "-9", "-9", ""},
		{"seed", "x", "", `seed is a whole number, not "x"`},
		{"stop", "END", "END", ""},
		{"think", "on", "on", ""},
		{"think", "off", "off", ""},
		{"think", "", "", ""},
		{"think", "maybe", "", `think is on or off, not "maybe"`},
		{"format", "json", "json", ""},
		{"verbose", "on", "on", ""},
		{"repeat_last_n", "-1", "-1", ""},
		{"typical_p", "0.9", "0.9", ""},
		{"num_ctx", "4096", "", "num_ctx is fixed when the model is loaded: add PARAMETER num_ctx 4096 to a Modelfile " +
			"(diglot show NAME --modelfile prints one), create a model from it with diglot create, and use that"},
		{"speed", "9", "", `unknown setting "speed"; /set lists all`},
	} {
		var s Settings
		err := s.Set(tt.name, tt.value)
		if err != nil && err.Error() != tt.err || err == nil && tt.err != "" {
			t.Errorf("%s %q: error %v, want %s", tt.name, tt.value, err, tt.err)
		}
		for _, k := range settings {
			if k.name == tt.name && err == nil && k.get(&s) != tt.want {
				t.Errorf("%s %q: it is %q, want %q", tt.name, tt.value, k.get(&s), tt.want)
			}
		}
	}
}
