package enginetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine"
)

// RunEmbeddings tests [engine.Engine.Embed]. open is as for [Run]; the engine's
// first model must make embeddings with more than one dimension.
func RunEmbeddings(t *testing.T, open func(t *testing.T) engine.Engine) {
	parts := []struct {
		name string
		run  func(*testing.T, engine.Engine)
	}{
		{"vectors have unit length and the order of the inputs", vectorsInOrder},
		{"a batch has the vectors of single inputs", batchEqualsSingles},
		{"fewer dimensions are the leading ones", fewerDimensions},
		{"invalid requests are refused", refusedEmbeddings},
		{"a canceled request ends with its error", canceledEmbedding},
		{"the request is not changed", unchangedEmbedding},
	}
	for _, p := range parts {
		t.Run(p.name, func(t *testing.T) { p.run(t, engine.Checked(open(t))) })
	}
}

func embeddingRequest(t *testing.T, e engine.Engine, texts ...string) *engine.EmbeddingRequest {
	t.Helper()
	list, err := e.Models(t.Context())
	if err != nil || len(list) == 0 {
		t.Fatalf("Models: %v, %v", list, err)
	}
	req := &engine.EmbeddingRequest{Model: list[0].Name}
	for _, text := range texts {
		req.Inputs = append(req.Inputs, engine.EmbeddingInput{Text: text})
	}
	return req
}

// embed returns embeddings, which must be well-formed.
func embed(t *testing.T, e engine.Engine, req *engine.EmbeddingRequest) *engine.Embeddings {
	t.Helper()
	got, err := e.Embed(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Vectors) != len(req.Inputs) {
		t.Fatalf("%d vectors for %d inputs", len(got.Vectors), len(req.Inputs))
	}
	for i, vector := range got.Vectors {
		if length := math.Sqrt(dot(vector, vector)); math.Abs(length-1) > 1e-5 {
			t.Errorf("vector %d has the length %v", i, length)
		}
		if len(vector) != len(got.Vectors[0]) || req.Dimensions > 0 && len(vector) != req.Dimensions {
			t.Errorf("vector %d has %d dimensions", i, len(vector))
		}
	}
	return got
}

func dot(a, b []float32) float64 {
	sum := 0.0
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// distance is the largest difference between two elements.
func distance(a, b []float32) float64 {
	if len(a) != len(b) {
		return math.Inf(1)
	}
	largest := 0.0
	for i := range a {
		largest = max(largest, math.Abs(float64(a[i])-float64(b[i])))
	}
	return largest
}

func vectorsInOrder(t *testing.T, e engine.Engine) {
	got := embed(t, e, embeddingRequest(t, e, "The sea is calm.", "Prices rose again, said the bank.", "The sea is calm."))
	if d := distance(got.Vectors[0], got.Vectors[2]); d > 1e-5 {
		t.Errorf("the vectors of one text differ by %g", d)
	}
	if dot(got.Vectors[0], got.Vectors[1]) > 0.999 {
		t.Error("two texts have one vector")
	}
	if got.PromptTokens < 3 {
		t.Errorf("%d tokens for three inputs", got.PromptTokens)
	}
}

func batchEqualsSingles(t *testing.T, e engine.Engine) {
	var texts []string
	for i := range 40 {
		texts = append(texts, fmt.Sprintf("Number %d:%s.", i, strings.Repeat(" word", i*7%20)))
	}
	all := embed(t, e, embeddingRequest(t, e, texts...))
	tokens := 0
	for i, text := range texts {
		single := embed(t, e, embeddingRequest(t, e, text))
		tokens += single.PromptTokens
		if d := distance(all.Vectors[i], single.Vectors[0]); d > 1e-5 {
			t.Errorf("input %d: alone its vector differs by %g", i, d)
		}
	}
	if all.PromptTokens != tokens {
		t.Errorf("%d tokens together, %d alone", all.PromptTokens, tokens)
	}
}

func fewerDimensions(t *testing.T, e engine.Engine) {
	req := embeddingRequest(t, e, "The sea is calm.")
	whole := embed(t, e, req).Vectors[0]
	req.Dimensions = len(whole) - 1
	cut := embed(t, e, req).Vectors[0]
	head := whole[:len(whole)-1]
	length := math.Sqrt(dot(head, head))
	for i := range cut {
		if math.Abs(float64(cut[i])-float64(head[i])/length) > 1e-5 {
			t.Fatalf("number %d is %v; want %v of length %v", i, cut[i], head[i], length)
		}
	}
}

func refusedEmbeddings(t *testing.T, e engine.Engine) {
	size := len(embed(t, e, embeddingRequest(t, e, "a")).Vectors[0])
	tests := []struct {
		name   string
		change func(*engine.EmbeddingRequest)
		code   engine.Code
		place  engine.Place
	}{
		{"unknown model", func(r *engine.EmbeddingRequest) { r.Model = "no-such-model" },
			engine.CodeModelNotFound, engine.Place{Field: engine.FieldModel}},
		{"no inputs", func(r *engine.EmbeddingRequest) { r.Inputs = nil },
			engine.CodeInvalidArgument, engine.Place{Field: engine.FieldInput}},
		{"empty text", func(r *engine.EmbeddingRequest) { r.Inputs[1].Text = "" },
			engine.CodeInvalidArgument, engine.Place{Field: engine.FieldInput, Index: 1}},
		{"no tokens", func(r *engine.EmbeddingRequest) { r.Inputs[1] = engine.EmbeddingInput{Tokens: []int32{}} },
			engine.CodeInvalidArgument, engine.Place{Field: engine.FieldInput, Index: 1}},
		{"an unknown token", func(r *engine.EmbeddingRequest) { r.Inputs[1].Tokens = []int32{1, 1 << 30} },
			engine.CodeInvalidArgument, engine.Place{Field: engine.FieldInput, Index: 1}},
		{"a negative token", func(r *engine.EmbeddingRequest) { r.Inputs[1].Tokens = []int32{-1} },
			engine.CodeInvalidArgument, engine.Place{Field: engine.FieldInput, Index: 1}},
		{"too many tokens", func(r *engine.EmbeddingRequest) { r.Inputs[1].Tokens = make([]int32, 1<<17) },
			engine.CodeContextLength, engine.Place{Field: engine.FieldInput, Index: 1}},
		{"a text too long", func(r *engine.EmbeddingRequest) { r.Inputs[1].Text = strings.Repeat("word ", 1<<17) },
			engine.CodeContextLength, engine.Place{Field: engine.FieldInput, Index: 1}},
		{"too many dimensions", func(r *engine.EmbeddingRequest) { r.Dimensions = size + 1 },
			engine.CodeInvalidArgument, engine.Place{Field: engine.FieldDimensions}},
		{"negative dimensions", func(r *engine.EmbeddingRequest) { r.Dimensions = -1 },
			engine.CodeInvalidArgument, engine.Place{Field: engine.FieldDimensions}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req := embeddingRequest(t, e, "a", "b")
			tt.change(req)
			got, err := e.Embed(t.Context(), req)
			var coded *engine.Error
			if got != nil || !errors.As(err, &coded) || coded.Code != tt.code || coded.Place != tt.place {
				t.Fatalf("got %v, %v; want %s at %+v", got, err, tt.code, tt.place)
			}
			if tt.code == engine.CodeContextLength && (coded.Limit < 1 || coded.Tokens <= coded.Limit) {
				t.Errorf("%d tokens over the limit of %d", coded.Tokens, coded.Limit)
			}
		})
	}
}

func canceledEmbedding(t *testing.T, e engine.Engine) {
	ctx, cancel := context.WithCancel(t.Context())
	req := embeddingRequest(t, e, "a")
	cancel()
	_, err := e.Embed(ctx, req)
	var coded *engine.Error
	if !errors.As(err, &coded) || coded.Code != engine.CodeCanceled {
		t.Errorf("got %v, want code %s", err, engine.CodeCanceled)
	}
	embed(t, e, req) // it still answers
}

func unchangedEmbedding(t *testing.T, e engine.Engine) {
	req := embeddingRequest(t, e, "a")
	req.Inputs = append(req.Inputs, engine.EmbeddingInput{Tokens: []int32{3, 2, 1}})
	req.Dimensions = 1
	before := fmt.Sprintf("%#v", *req)
	embed(t, e, req)
	if after := fmt.Sprintf("%#v", *req); after != before {
		t.Errorf("the request was\n%s and is\n%s", before, after)
	}
}
