package handlerstest

import (
	"context"
	"iter"
	"time"

	"github.com/diglot/diglot/engine"
)

// Engine plays a list of events, whatever the request, also ones that no model would send.
// Models is the name of its only model.
type Engine struct {
	Name   string
	Events []engine.Event
	Err    error // after the events

	Asked *engine.Request // the last request
}

// Models implements engine.Engine.
func (e *Engine) Models(context.Context) ([]engine.Model, error) {
	return []engine.Model{{Name: e.Name, Owner: "library", Changed: time.Unix(1_700_000_000, 0)}}, nil
}

// Generate implements engine.Engine.
func (e *Engine) Generate(_ context.Context, req *engine.Request) iter.Seq2[engine.Event, error] {
	e.Asked = req
	return func(yield func(engine.Event, error) bool) {
		for _, event := range e.Events {
			if !yield(event, nil) {
				return
			}
		}
		if e.Err != nil {
			yield(nil, e.Err)
		}
	}
}

// Count implements engine.Engine with the count of the first event.
func (e *Engine) Count(_ context.Context, req *engine.Request) (int, error) {
	e.Asked = req
	for _, event := range e.Events {
		if start, ok := event.(engine.Start); ok {
			return start.PromptTokens, nil
		}
	}
	return 0, e.Err
}

// Embed implements engine.Engine: every vector is the same.
func (e *Engine) Embed(_ context.Context, req *engine.EmbeddingRequest) (*engine.Embeddings, error) {
	if e.Err != nil {
		return nil, e.Err
	}
	out := &engine.Embeddings{PromptTokens: len(req.Inputs)}
	for range req.Inputs {
		out.Vectors = append(out.Vectors, []float32{0.6, -0.8})
	}
	return out, nil
}

// GenerateImages implements engine.Engine: every image is the same.
func (e *Engine) GenerateImages(_ context.Context, req *engine.ImageRequest) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) {
		if e.Err != nil {
			yield(nil, e.Err)
			return
		}
		for i := range req.Choices {
			picture := engine.Image{Data: []byte("picture"), MediaType: "image/png"}
			if !yield(engine.Drawn{Choice: i, Image: picture, Width: 1, Height: 1}, nil) {
				return
			}
		}
	}
}

// Text returns the events of an answer.
func Text(text string) []engine.Event {
	return []engine.Event{
		engine.Start{PromptTokens: 3},
		engine.BlockStart{Kind: engine.BlockText},
		engine.TextDelta{Text: text},
		engine.BlockStop{},
		engine.Finish{Reason: engine.FinishEndOfTurn},
		engine.Done{Usage: engine.Usage{PromptTokens: 3, CompletionTokens: 1}},
	}
}
