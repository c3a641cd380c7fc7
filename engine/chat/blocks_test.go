package chat

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/format"
	"github.com/diglot/diglot/engine/chat/template"
)

// TestNew answers with each format's own template, from the request to the
// events: the template's opening and the scanner must fit.
func TestNew(t *testing.T) {
	for _, name := range format.Names() {
		t.Run(name, func(t *testing.T) {
			m := &fakeModel{pieces: []string{"Hel", "lo."}, end: EndOfTurn, info: Info{Name: "fake", Format: name, Context: 1000}}
			e, err := New(m, slog.New(slog.DiscardHandler), func() time.Time { return time.Unix(0, 0) })
			if err != nil {
				t.Fatal(err)
			}
			r := generate(t, e, testRequest())
			if diff := cmp.Diff([]engine.Block{text("Hello.")}, r.Choices[0].Blocks); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	m := &fakeModel{info: Info{Name: "fake", Format: "nothing"}}
	if _, err := New(m, slog.New(slog.DiscardHandler), time.Now); err == nil {
		t.Error("a format that does not exist is taken")
	}
}

func TestSampling(t *testing.T) {
	zero, none, half, three, seedling := 0.0, 0, 0.5, 3, int64(7)
	with := func(change func(*engine.Sampling)) engine.Sampling {
		s := engine.DefaultSampling()
		s.Seed = &seedling
		change(&s)
		return s
	}
	for _, tt := range []struct {
		name                 string
		request, model, want engine.Sampling
	}{
		{
			"the request comes first",
			engine.Sampling{Temperature: &zero, Seed: &seedling}, engine.Sampling{Temperature: &half, TopK: &three},
			with(func(s *engine.Sampling) { s.Temperature, s.TopK = &zero, &three }),
		},
		{
			"what only Modelfiles set",
			engine.Sampling{RepeatPenalty: &half, RepeatLastN: &none, TypicalP: &half, Seed: &seedling}, engine.Sampling{RepeatLastN: &three},
			with(func(s *engine.Sampling) { s.RepeatPenalty, s.RepeatLastN, s.TypicalP = &half, &none, &half }),
		},
	} {
		e := &Engine{info: Info{Sampling: tt.model}}
		got, err := e.sampling(tt.request)
		if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", tt.name, err, diff)
		}
	}
	m := &fakeModel{pieces: []string{"a"}, end: EndOfTurn}
	req := testRequest()
	req.Sampling.Seed = &seedling
	generate(t, testEngine("plain", "", m), req)
	if s := *m.jobs.Load().Sampling.Seed; s != 7 {
		t.Errorf("seed %d, want 7", s)
	}
}

// TestUsed: the first event tells what is used where a request says nothing,
// and where what it says cannot be had.
func TestUsed(t *testing.T) {
	const on, off = engine.ReasoningOn, engine.ReasoningOff
	levels := template.Capabilities{Efforts: []string{"low", "high"}}
	for _, tt := range []struct {
		name   string
		engine Engine // what it knows of reasoning
		change func(*engine.Request)
		want   engine.Used
	}{
		{"nothing is said", Engine{canReason: true, reasoningSwitch: true}, func(*engine.Request) {}, engine.Used{MaxTokens: new(997)}},
		{"more than the context has", Engine{}, func(r *engine.Request) { r.MaxTokens = new(5000) }, engine.Used{MaxTokens: new(997)}},
		{"less", Engine{}, func(r *engine.Request) { r.MaxTokens, r.Truncate = new(5), true }, engine.Used{MaxTokens: new(5), Truncate: true}},
		{"a level", Engine{reasoningSwitch: true, caps: levels}, func(r *engine.Request) { r.Reasoning = engine.Reasoning{Mode: on, Effort: "low"} },
			engine.Used{MaxTokens: new(997), Reasoning: engine.Reasoning{Mode: on, Effort: "low"}}},
		{"the nearest level", Engine{reasoningSwitch: true, caps: levels}, func(r *engine.Request) { r.Reasoning = engine.Reasoning{Mode: on, Effort: "medium"} },
			engine.Used{MaxTokens: new(997), Reasoning: engine.Reasoning{Mode: on, Effort: "high"}}},
		{"no levels", Engine{reasoningSwitch: true}, func(r *engine.Request) { r.Reasoning = engine.Reasoning{Mode: on, Effort: "low"} },
			engine.Used{MaxTokens: new(997), Reasoning: engine.Reasoning{Mode: on}}},
		{"it cannot think", Engine{}, func(r *engine.Request) { r.Reasoning = engine.Reasoning{Mode: on, Effort: "low"} }, engine.Used{MaxTokens: new(997)}},
		{"nor need it be turned off", Engine{}, func(r *engine.Request) { r.Reasoning = engine.Reasoning{Mode: off, Effort: "low"} },
			engine.Used{MaxTokens: new(997), Reasoning: engine.Reasoning{Mode: off}}},
		{"it thinks in any case", Engine{canReason: true, reasoningSwitch: true}, func(r *engine.Request) { r.Reasoning.Mode = off }, engine.Used{MaxTokens: new(997)}},
		{"it can be turned off", Engine{canReason: true, caps: template.Capabilities{ThinkingSwitch: true}}, func(r *engine.Request) { r.Reasoning.Mode = off },
			engine.Used{MaxTokens: new(997), Reasoning: engine.Reasoning{Mode: off}}},
	} {
		e := testEngine("plain", "", &fakeModel{info: Info{Sampling: engine.Sampling{TopK: new(3)}}, pieces: []string{"a"}, end: EndOfTurn})
		e.canReason, e.reasoningSwitch, e.caps = tt.engine.canReason, tt.engine.reasoningSwitch, tt.engine.caps
		req := testRequest()
		req.Sampling = engine.Sampling{Temperature: new(0.25), Seed: new(int64(7)), LogitBias: map[int]float64{1: 1}}
		tt.change(req)
		tt.want.Sampling = engine.Sampling{Temperature: new(0.25), Seed: new(int64(7)), TopK: new(3)}
		tt.want.Sampling.Fill(engine.DefaultSampling())
		if diff := cmp.Diff(tt.want, generate(t, e, req).Used); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestUnenforced(t *testing.T) {
	req := testRequest()
	req.Tools = []engine.Tool{{Name: "a"}, {Name: "b", Parameters: []byte(`{"type":"object","properties":{"x":{"type":"array","uniqueItems":true}}}`)}}
	for event, err := range testEngine("hermes", "", &fakeModel{pieces: []string{"a"}, end: EndOfTurn}).Generate(t.Context(), req) {
		if err != nil {
			t.Fatal(err)
		}
		if start, ok := event.(engine.Start); ok {
			want := []engine.Place{{Field: engine.FieldTools, Index: 1, Path: "/properties/x/uniqueItems"}}
			if diff := cmp.Diff(want, start.Unenforced); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		}
	}
	req.Tools = nil
	req.Format = engine.Format{Kind: engine.FormatSchema, Schema: []byte(`{"type":"array","uniqueItems":true}`)}
	for _, err := range testEngine("hermes", "", &fakeModel{}).Generate(t.Context(), req) {
		e := engine.AsError(err)
		if e == nil || e.Code != engine.CodeUnsupported || e.Place.Field != engine.FieldFormat || !strings.Contains(e.Message, "uniqueItems") {
			t.Errorf("%v", err)
		}
	}
}
