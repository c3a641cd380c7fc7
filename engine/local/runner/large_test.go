//go:build !race

package runner

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/diglot/diglot/engine"
)

// TestLargeReplies: events larger than a frame arrive unchanged.
func TestLargeReplies(t *testing.T) {
	echo := strings.Repeat("wörd ", 100_000)
	var tokens []engine.TokenLogprob
	for i := range 100_000 {
		token := engine.TokenLogprob{Token: []byte("wörd "), Logprob: -float64(i)}
		for k := range 5 {
			token.Top = append(token.Top, engine.TokenLogprob{Token: []byte("other"), Logprob: -float64(k)})
		}
		tokens = append(tokens, token)
	}
	places := make([]engine.Place, 5000)
	for i := range places {
		places[i] = engine.Place{Field: engine.FieldTools, Path: fmt.Sprint("/", i)}
	}
	call := engine.BlockStart{Index: 2, Kind: engine.BlockToolCall, CallID: "a", Name: "f"}
	m := &mirror{events: []engine.Event{
		engine.Start{PromptTokens: 3, Prompt: strings.Repeat("prömpt ", 8<<20), Unenforced: places},
		engine.BlockStart{Kind: engine.BlockReasoning}, engine.ReasoningDelta{Text: strings.Repeat("thöught ", 1<<20)}, engine.BlockStop{},
		engine.BlockStart{Index: 1, Kind: engine.BlockText}, engine.TextDelta{Index: 1, Text: echo, Logprobs: tokens}, engine.BlockStop{Index: 1},
		call, engine.ToolCallDelta{Index: 2, Arguments: strings.Repeat(`{"ä":1}`, 1<<20)}, engine.BlockStop{Index: 2},
		engine.Finish{Reason: engine.FinishToolCalls}, engine.Done{Usage: engine.Usage{PromptTokens: 3}},
	}}
	req := &engine.Request{Prompt: &engine.Prompt{Text: echo, Echo: true}, Logprobs: new(5), Tools: []engine.Tool{{Name: "f"}}}
	want, err := engine.Collect(m.Generate(t.Context(), req))
	if err != nil {
		t.Fatal(err)
	}
	want.Unenforced = places[:maxListed]
	var told string
	c := serve(t, m)
	got, err := engine.Collect(func(yield func(engine.Event, error) bool) {
		for e, err := range c.Generate(t.Context(), req) {
			if start, is := e.(engine.Start); is {
				told = start.Prompt
			}
			if !yield(e, err) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(want, got) { // go-cmp would take minutes
		t.Error("the reply is another")
	}
	if prompt := m.events[0].(engine.Start).Prompt; len(told) > maxPrompt || len(told) < maxPrompt-utf8.UTFMax || !strings.HasPrefix(prompt, told) {
		t.Errorf("%d of %d bytes of the prompt arrived, want %d", len(told), len(prompt), maxPrompt)
	}
}

// many is an engine with many vectors and large pictures.
type many struct{ *mirror }

func (many) Embed(_ context.Context, req *engine.EmbeddingRequest) (*engine.Embeddings, error) {
	e := &engine.Embeddings{PromptTokens: 7}
	for i := range req.Inputs {
		v := make([]float32, 4096)
		for k := range v {
			v[k] = float32(i) / float32(k+1)
		}
		e.Vectors = append(e.Vectors, v)
	}
	return e, nil
}

func (many) GenerateImages(_ context.Context, req *engine.ImageRequest) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) {
		for i := range req.Choices {
			large := engine.Image{Data: bytes.Repeat([]byte{byte(i)}, 10<<20), MediaType: "image/png"}
			d := engine.Drawn{Choice: i, Image: large, Width: 1, Height: 1}
			if !yield(engine.Preview{Drawn: d}, nil) || !yield(d, nil) {
				return
			}
		}
	}
}

func TestLargeVectorsAndPictures(t *testing.T) {
	c := serve(t, many{})
	texts := &engine.EmbeddingRequest{Inputs: make([]engine.EmbeddingInput, 2048)}
	want, err := many{}.Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := c.Embed(t.Context(), texts); err != nil || !reflect.DeepEqual(want, got) {
		t.Errorf("the vectors are others, error %v", err)
	}
	req := &engine.ImageRequest{Choices: 10, Previews: 1}
	pictures, err := engine.CollectImages(many{}.GenerateImages(t.Context(), req))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := engine.CollectImages(c.GenerateImages(t.Context(), req)); err != nil || !reflect.DeepEqual(pictures, got) {
		t.Errorf("the pictures are others, error %v", err)
	}
}
