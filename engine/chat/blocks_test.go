package chat

import (
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/engine"
)

// TestRandomBlocks writes answers of random blocks, cuts them at random, and
// reads the same blocks back, whatever their order.
func TestRandomBlocks(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	words := []string{"alpha", "beta ß", "a < b", "€", "{x}", "\n\ngamma", "<b>"}
	for range 500 {
		var output strings.Builder
		var want []engine.Block
		last := engine.BlockToolCall
		for range 1 + random.IntN(6) {
			s := "x" + words[random.IntN(len(words))] + words[random.IntN(len(words))]
			switch kind := []engine.BlockKind{engine.BlockText, engine.BlockReasoning, engine.BlockToolCall}[random.IntN(3)]; {
			case kind == engine.BlockText && last != engine.BlockText:
				output.WriteString(s)
				want, last = append(want, text(s)), kind
			case kind == engine.BlockReasoning && last != engine.BlockReasoning:
				output.WriteString("<think>\n" + s + "\n</think>\n\n")
				want, last = append(want, reasoning(s)), kind
			case kind == engine.BlockToolCall:
				arguments := `{"city": ` + quote(s) + `}`
				output.WriteString("<tool_call>\n{\"name\": \"get_weather\", \"arguments\": " + arguments + "}\n</tool_call>\n")
				want, last = append(want, call("get_weather", arguments)), kind
			}
		}
		pieces := cutRandomly(random, output.String())
		if diff := cmp.Diff(want, scan(t, hermes, testTools(t), "", pieces...)); diff != "" {
			t.Fatalf("%q (-want +got):\n%s", pieces, diff)
		}
	}
}

// TestNew answers with each format's own template, from the request to the
// events: the template's opening and the scanner must fit.
func TestNew(t *testing.T) {
	for _, name := range FormatNames() {
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

// BenchmarkScanner is the cost of one token from the raw model to events.
func BenchmarkScanner(b *testing.B) {
	for _, name := range []string{"plain", "hermes", "harmony"} {
		b.Run(name, func(b *testing.B) {
			format, _ := FormatByName(name)
			opening := ""
			if format.channels {
				opening = "<|start|>assistant<|channel|>final<|message|>"
			}
			w := &writer{holdSpace: true, stops: []string{"STOP", "\n\nUser:"}, newID: func() string { return "id" }}
			s := newScanner(format, toolSet{"now": {}}, opening, w)
			piece := Piece{Bytes: []byte(" word")}
			b.ReportAllocs()
			for b.Loop() {
				w.tokens.add(piece)
				s.write(piece.Bytes)
				w.take()
			}
		})
	}
}
