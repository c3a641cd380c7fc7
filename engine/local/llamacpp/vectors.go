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
)

// vectorSession is a session whose decodes give vectors.
type vectorSession struct {
	*session
	dimensions int
	pooled     bool // llama.cpp makes one vector of all tokens of a sequence
}

var _ decode.VectorBackend = vectorSession{}

// newVectorSession returns false where llama.cpp fails.
func newVectorSession(w *weights, e embedding, s decode.EmbedShape, input int, options Options, sink *logSink) (vectorSession, bool) {
	c := sessionConfig{
		cells:     cacheOf(s, input),
		sequences: s.Sequences,
		rows:      s.Rows,
		vectors:   true,
		governor:  newGovernor(options),
		sink:      sink,
	}
	if s.Whole {
		c.pooling = e.pooling // else one row of the output is the vector
	}
	session := newSession(w, c)
	return vectorSession{session, w.dimensions(), s.Whole}, session != nil
}

func (w *weights) dimensions() int { return int(C.llama_model_n_embd(w.model)) }

// Decode computes no attention in tiles: vectors are to be the same to the last
// digit, whatever is in a batch beside them, and a tile that begins elsewhere in
// a text rounds in another way.
func (s vectorSession) Decode(batch []decode.Entry) decode.Outcome {
	return s.session.Decode(batch, false)
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

// Clear forgets what was read. Encoders remember nothing.
func (s vectorSession) Clear() {
	if s.memory != nil {
		C.llama_memory_clear(s.memory, false)
	}
}

// embed gives the model a session for embeddings, and nothing else.
func embed(c *decode.Config, w *weights, e embedding, options Options, sink *logSink) error {
	if !w.generates() {
		return errors.New("models of the T5 family are not supported")
	}
	input := c.Info.Context
	shape := e.shape(input)
	if w.recurrent() {
		shape.Sequences = 1
	}
	session, ok := newVectorSession(w, e, shape, input, options, sink)
	if !ok {
		return fmt.Errorf("llama.cpp cannot make room for inputs of %d tokens: %s", input, sink.reason())
	}
	c.Info.Vectors = chat.Vectors{Size: w.dimensions(), Input: input, Vocabulary: c.Vocabulary.Size(), Only: true}
	c.Vectors = &decode.Vectors{Shape: shape, Open: func() (decode.VectorBackend, error) { return kept{session}, nil }}
	c.Free = func() {
		session.Free()
		w.free()
	}
	return nil
}

// kept is a session that lives as long as its model.
type kept struct{ vectorSession }

func (kept) Free() {}

// embedBeside lets a model that generates text make embeddings too. Few are
// asked for them, so the memory is taken for the first one.
func embedBeside(c *decode.Config, w *weights, e embedding, options Options, sink *logSink) {
	input := min(c.Info.Context, maxInputBeside)
	shape := e.shape(input)
	if w.recurrent() {
		shape.Sequences = 1
	}
	c.Info.Vectors = chat.Vectors{Size: w.dimensions(), Input: input, Vocabulary: c.Vocabulary.Size()}
	c.Vectors = &decode.Vectors{Shape: shape, Open: func() (decode.VectorBackend, error) {
		if !options.beside(input) {
			return nil, errNoRoom()
		}
		session, ok := newVectorSession(w, e, shape, input, options, sink)
		if !ok {
			return nil, errNoRoom().Because(errors.New(sink.reason()))
		}
		return session, nil
	}}
}

func errNoRoom() *engine.Error {
	err := engine.Errorf(engine.CodeOverloaded, "The machine has no memory left for embeddings by this model; try again later.")
	err.RetryAfter = 30
	return err
}
