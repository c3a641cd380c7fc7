package chat

import (
	"errors"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/engine"
)

func embeddingEngine(vectors ...[]float32) (*Engine, *fakeModel) {
	m := &fakeModel{end: EndOfTurn, vectors: vectors}
	m.info.Vectors = Vectors{Size: 2, Input: 3, Vocabulary: 10}
	return testEngine("plain", "", m), m
}

func TestEmbed(t *testing.T) {
	e, m := embeddingEngine([]float32{3, 4}, []float32{0, -2})
	req := &engine.EmbeddingRequest{Model: "fake", Inputs: []engine.EmbeddingInput{{Text: "one two"}, {Tokens: []int32{9, 0, 7}}}}
	got, err := e.Embed(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	want := &engine.Embeddings{Vectors: [][]float32{{0.6, 0.8}, {0, -1}}, PromptTokens: 5}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if diff := cmp.Diff([][]int32{{0, 0}, {9, 0, 7}}, m.embedded); diff != "" {
		t.Errorf("inputs of the model (-want +got):\n%s", diff)
	}
}

// TestEmbedRefuses has what the suite of enginetest cannot see from outside.
func TestEmbedRefuses(t *testing.T) {
	nan := float32(math.NaN())
	huge := float32(math.MaxFloat32)
	tests := []struct {
		name    string
		vector  []float32
		change  func(*Engine, *engine.EmbeddingRequest)
		code    engine.Code
		place   engine.Place
		message string
	}{
		{"a model without vectors", nil, func(e *Engine, _ *engine.EmbeddingRequest) { e.info.Vectors = Vectors{} },
			engine.CodeUnsupported, engine.Place{Field: engine.FieldModel}, "The model fake makes no embeddings."},
		{"blanks alone", nil, func(_ *Engine, r *engine.EmbeddingRequest) { r.Inputs[1].Text = "  " },
			engine.CodeInvalidArgument, engine.Place{Field: engine.FieldInput, Index: 1}, "nothing in input 1"},
		{"a token too far", nil, func(_ *Engine, r *engine.EmbeddingRequest) { r.Inputs[1].Tokens = []int32{9, 10} },
			engine.CodeInvalidArgument, engine.Place{Field: engine.FieldInput, Index: 1}, "Token 1 of input 1 (both counted from 0) is 10, and the model fake has the tokens 0 to 9."},
		{"one token too many", nil, func(_ *Engine, r *engine.EmbeddingRequest) { r.Inputs[0].Text = "a b c d" },
			engine.CodeContextLength, engine.Place{Field: engine.FieldInput}, "it has 4 tokens, and the model fake takes at most 3"},
		{"too many dimensions", nil, func(_ *Engine, r *engine.EmbeddingRequest) { r.Dimensions = 3 },
			engine.CodeInvalidArgument, engine.Place{Field: engine.FieldDimensions}, "have 2 dimensions; 3 are not among them"},
		{"a vector of zeros", []float32{0, 0}, nil,
			engine.CodeInternal, engine.Place{Field: engine.FieldInput, Index: 1}, "cannot be normalized"},
		{"a vector cut to zeros", []float32{0, 1}, func(_ *Engine, r *engine.EmbeddingRequest) { r.Dimensions = 1 },
			engine.CodeInternal, engine.Place{Field: engine.FieldInput, Index: 1}, "cannot be normalized"},
		{"a vector that is no number", []float32{nan, 1}, nil,
			engine.CodeInternal, engine.Place{Field: engine.FieldInput, Index: 1}, "cannot be normalized"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, _ := embeddingEngine([]float32{huge, huge}, tt.vector)
			req := &engine.EmbeddingRequest{Model: "fake", Inputs: []engine.EmbeddingInput{{Text: "a"}, {Text: "b"}}}
			if tt.change != nil {
				tt.change(e, req)
			}
			_, err := e.Embed(t.Context(), req)
			var coded *engine.Error
			if !errors.As(err, &coded) || coded.Code != tt.code || coded.Place != tt.place || !strings.Contains(coded.Message, tt.message) {
				t.Errorf("got %v at %+v; want %s at %+v with %q", err, coded.Place, tt.code, tt.place, tt.message)
			}
		})
	}
}

// TestEmbeddingModel is one that does nothing else: it needs no template.
func TestEmbeddingModel(t *testing.T) {
	m := &fakeModel{vectors: [][]float32{{1, 0}}}
	m.info = Info{Name: "fake", Template: "{% broken", Vectors: Vectors{Size: 2, Input: 3, Vocabulary: 10, Only: true}}
	e, err := New(m, slog.New(slog.DiscardHandler), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Embed(t.Context(), &engine.EmbeddingRequest{Model: "fake", Inputs: []engine.EmbeddingInput{{Text: "a"}}}); err != nil {
		t.Errorf("Embed: %v", err)
	}
	_, count := e.Count(t.Context(), testRequest())
	failures := map[string]error{"Count": count}
	for _, err := range e.Generate(t.Context(), testRequest()) {
		failures["Generate"] = err
	}
	for _, name := range []string{"Count", "Generate"} {
		var coded *engine.Error
		want := engine.Place{Field: engine.FieldModel}
		if !errors.As(failures[name], &coded) || coded.Code != engine.CodeUnsupported || coded.Place != want {
			t.Errorf("%s: got %v, want %s at the model", name, failures[name], engine.CodeUnsupported)
		}
	}
}
