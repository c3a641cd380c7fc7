//go:build llamacpp && cgo

package llamacpp

// #include "shim.h"
import "C"

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
	"github.com/diglot/diglot/engine/local/decode"
	"github.com/diglot/diglot/engine/local/memory"
)

// vectorSession is a session that computes embeddings.
type vectorSession struct {
	*session
	dimensions int
	pooled     bool // by llama.cpp, over all tokens of a sequence
}

var _ decode.VectorBackend = vectorSession{}

// newVectorSession returns false if llama.cpp fails.
func newVectorSession(w *weights, e embedding, s decode.EmbeddingLimits, input int, options Options, sink *logSink) (vectorSession, bool) {
	c := sessionConfig{
		cells:     cellsFor(s, input),
		sequences: s.Sequences,
		rows:      s.Rows,
		vectors:   true,
		governor:  newGovernor(options),
		sink:      sink,
	}
	if s.WholeInput {
		c.pooling = e.pooling // otherwise one row is the vector
	}
	session := newSession(w, c)
	return vectorSession{session, w.dimensions(), s.WholeInput}, session != nil
}

func (w *weights) dimensions() int { return int(C.llama_model_n_embd(w.model)) }

// Decode attends in tiles, as tokens of an input attend to the same cells.
func (s vectorSession) Decode(batch []decode.Entry) decode.Outcome {
	return s.session.Decode(batch, true)
}

func (s vectorSession) Vector(sequence, row int) ([]float32, bool) {
	var p *C.float
	if s.pooled {
		p = C.llama_get_embeddings_seq(s.ctx, C.llama_seq_id(sequence))
	} else {
		p = C.llama_get_embeddings_ith(s.ctx, C.int32_t(row))
	}
	if p == nil {
		return nil, false
	}
	return unsafe.Slice((*float32)(unsafe.Pointer(p)), s.dimensions), true
}

// Clear removes all sequences.
func (s vectorSession) Clear() {
	if s.memory != nil { // encoders have none
		C.llama_memory_clear(s.memory, false)
	}
}

// embed adds the session of an embedding model.
func embed(c *decode.Config, w *weights, e embedding, options Options, sink *logSink) error {
	if !w.generates() {
		return errors.New("models of the T5 family are not supported")
	}
	input := c.Info.Context
	shape := e.limits(input)
	if w.recurrent() {
		shape.Sequences = 1
	}
	session, ok := newVectorSession(w, e, shape, input, options, sink)
	if !ok {
		return fmt.Errorf("llama.cpp cannot create a context for inputs of %d tokens: %s", input, sink.reason())
	}
	c.Info.Vectors = chat.Vectors{Size: w.dimensions(), Input: input, Vocabulary: c.Vocabulary.Size(), Only: true}
	c.Vectors = &decode.Vectors{Limits: shape, Open: func() (decode.VectorBackend, error) { return modelSession{session}, nil }}
	c.Free = func() {
		session.Free()
		w.free()
	}
	return nil
}

// modelSession is freed with its model.
type modelSession struct{ vectorSession }

func (modelSession) Free() {}

// embedOnDemand lets a generating model make embeddings. Few are asked for them,
// so the session is created on first use.
func embedOnDemand(c *decode.Config, w *weights, e embedding, options Options, plan memory.Plan, sink *logSink) {
	input := min(c.Info.Context, maxGeneratorInput)
	shape := e.limits(input)
	if w.recurrent() {
		shape.Sequences = 1
	}
	c.Info.Vectors = chat.Vectors{Size: w.dimensions(), Input: input, Vocabulary: c.Vocabulary.Size()}
	c.Vectors = &decode.Vectors{Limits: shape, Open: func() (decode.VectorBackend, error) {
		if !options.fitsSecondContext(input, plan) {
			return nil, errNoMemory()
		}
		session, ok := newVectorSession(w, e, shape, input, options, sink)
		if !ok {
			return nil, errNoMemory().Because(errors.New(sink.reason()))
		}
		return session, nil
	}}
}

func errNoMemory() *engine.Error {
	err := engine.Errorf(engine.CodeOverloaded, "There is not enough memory for embeddings with this model; try again later.")
	err.RetryAfter = 30
	return err
}
