package runner

import (
	"encoding/gob"
	"sync"

	"github.com/diglot/diglot/engine"
)

// registerWire registers the types of message parts with gob. The names are explicit
// because gob's default names contain import paths.
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

// call is what a client sends: one of the requests, or a Models call if all are nil.
type call struct {
	Generate *wireRequest
	Count    *wireRequest
	Embed    *engine.EmbeddingRequest
	Images   *engine.ImageRequest
}

// wireRequest is engine.Request for gob, which cannot tell a pointer to zero from
// nil: Pointers encodes the pointer fields, which are nil in Request.
type wireRequest struct {
	Request  engine.Request
	Pointers []byte
}

func toWire(req *engine.Request) *wireRequest {
	out, w := &wireRequest{Request: *req}, &writer{}
	pointerFields(w, &out.Request)
	out.Pointers = w.frame
	out.Request.MaxTokens, out.Request.Logprobs = nil, nil
	out.Request.Sampling = engine.Sampling{LogitBias: req.Sampling.LogitBias}
	return out
}

func (w *wireRequest) request() *engine.Request {
	req := w.Request
	pointerFields(&reader{frame: w.Pointers}, &req)
	return &req
}

func pointerFields(f fields, req *engine.Request) {
	optional(f, &req.MaxTokens, fields.number)
	optional(f, &req.Logprobs, fields.number)
	samplingFields(f, &req.Sampling)
}

// samplingFields encodes all fields but LogitBias.
func samplingFields(f fields, s *engine.Sampling) {
	for p := range engine.SamplingParams() {
		value := p.Get(s)
		is := value != nil
		if f.flag(&is); !is {
			continue
		}
		if p.Whole {
			whole, _ := value.(int64)
			n := int(whole)
			f.number(&n)
			value = int64(n)
		} else {
			x, _ := value.(float64)
			f.float(&x)
			value = x
		}
		p.Set(s, value)
	}
}

// optional encodes a value that may be absent.
func optional[T any](f fields, value **T, each func(fields, *T)) {
	is := *value != nil
	if f.flag(&is); !is {
		return
	}
	v := new(T)
	if *value != nil {
		*v = **value
	}
	each(f, v)
	*value = v
}
