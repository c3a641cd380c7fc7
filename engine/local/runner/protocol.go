package runner

import (
	"encoding/gob"
	"sync"

	"github.com/diglot/diglot/engine"
)

// registerWire makes the members of the closed interface in requests known to
// gob. Names are spelled out because those that gob makes hold import paths.
var registerWire = sync.OnceFunc(func() {
	for name, value := range map[string]any{
		"Text":          engine.Text{},
		"ReasoningText": engine.ReasoningText{},
		"ToolCall":      engine.ToolCall{},
		"ToolResult":    engine.ToolResult{},
		"Image":         engine.Image{},
	} {
		gob.RegisterName(name, value)
	}
})

// call is what a client sends: one of the requests, or, where all are nil, a
// question for the models.
type call struct {
	Generate *wireRequest
	Count    *wireRequest
	Embed    *engine.EmbeddingRequest
	Images   *engine.ImageRequest
}

// wireRequest is engine.Request for gob, which cannot tell a pointer to zero
// from nil: what a pointer says stands beside the request, and the request's
// own pointers are nil.
type wireRequest struct {
	Request   engine.Request
	MaxTokens optional[int]
	Logprobs  optional[int]

	Temperature      optional[float64]
	TopP             optional[float64]
	TopK             optional[int]
	MinP             optional[float64]
	FrequencyPenalty optional[float64]
	PresencePenalty  optional[float64]
	RepeatPenalty    optional[float64]
	RepeatLastN      optional[int]
	TypicalP         optional[float64]
	Seed             optional[int64]
}

// optional is a value that may be absent.
type optional[T any] struct {
	Set   bool
	Value T
}

func fromPointer[T any](p *T) optional[T] {
	if p == nil {
		return optional[T]{}
	}
	return optional[T]{Set: true, Value: *p}
}

func (o optional[T]) pointer() *T {
	if !o.Set {
		return nil
	}
	return &o.Value
}

func toWire(req *engine.Request) *wireRequest {
	s := req.Sampling
	w := &wireRequest{
		Request:          *req,
		MaxTokens:        fromPointer(req.MaxTokens),
		Logprobs:         fromPointer(req.Logprobs),
		Temperature:      fromPointer(s.Temperature),
		TopP:             fromPointer(s.TopP),
		TopK:             fromPointer(s.TopK),
		MinP:             fromPointer(s.MinP),
		FrequencyPenalty: fromPointer(s.FrequencyPenalty),
		PresencePenalty:  fromPointer(s.PresencePenalty),
		RepeatPenalty:    fromPointer(s.RepeatPenalty),
		RepeatLastN:      fromPointer(s.RepeatLastN),
		TypicalP:         fromPointer(s.TypicalP),
		Seed:             fromPointer(s.Seed),
	}
	w.Request.MaxTokens, w.Request.Logprobs = nil, nil
	w.Request.Sampling = engine.Sampling{LogitBias: s.LogitBias}
	return w
}

func (w *wireRequest) request() *engine.Request {
	req := w.Request
	req.MaxTokens = w.MaxTokens.pointer()
	req.Logprobs = w.Logprobs.pointer()
	req.Sampling = engine.Sampling{
		Temperature:      w.Temperature.pointer(),
		TopP:             w.TopP.pointer(),
		TopK:             w.TopK.pointer(),
		MinP:             w.MinP.pointer(),
		FrequencyPenalty: w.FrequencyPenalty.pointer(),
		PresencePenalty:  w.PresencePenalty.pointer(),
		RepeatPenalty:    w.RepeatPenalty.pointer(),
		RepeatLastN:      w.RepeatLastN.pointer(),
		TypicalP:         w.TypicalP.pointer(),
		Seed:             w.Seed.pointer(),
		LogitBias:        w.Request.Sampling.LogitBias,
	}
	return &req
}
