//go:build llamacpp && cgo

package llamacpp

// #include "shim.h"
import "C"

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
	"github.com/diglot/diglot/engine/gguf"
)

// vectorSession is a session whose decodes give vectors.
type vectorSession struct {
	*session
	dimensions int
	pooled     bool // llama.cpp makes one vector of all tokens of a sequence
}

var _ vectorBackend = vectorSession{}

// newVectorSession returns false where llama.cpp fails.
func newVectorSession(w *weights, e embedding, s embedShape, input int, options Options, sink *logSink) (vectorSession, bool) {
	c := sessionConfig{
		cells:     s.cells(input),
		sequences: s.sequences,
		rows:      s.rows,
		vectors:   true,
		governor:  newGovernor(options),
		sink:      sink,
	}
	if s.whole {
		c.pooling = e.pooling // else one row of the output is the vector
	}
	session := newSession(w, c)
	return vectorSession{session, w.dimensions(), s.whole}, session != nil
}

func (w *weights) dimensions() int { return int(C.llama_model_n_embd(w.model)) }

// decode computes no attention in tiles: vectors are to be the same to the last
// digit, whatever is in a batch beside them, and a tile that begins elsewhere in
// a text rounds in another way.
func (s vectorSession) decode(batch []entry) decoded { return s.session.decode(batch, false) }

func (s vectorSession) vector(sequence, row int) ([]float32, bool) {
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

// clear forgets what was read. Encoders remember nothing.
func (s vectorSession) clear() {
	if s.memory != nil {
		C.llama_memory_clear(s.memory, false)
	}
}

// buildEmbedder makes a Model that is for embeddings alone, of inputs of so many
// tokens at most.
func buildEmbedder(w *weights, file *gguf.File, e embedding, options Options, input int, sink *logSink) (*Model, error) {
	if !w.generates() {
		return nil, errors.New("models of the T5 family are not supported")
	}
	stat, err := os.Stat(options.Path)
	if err != nil {
		return nil, err
	}
	vocab, err := w.vocabulary()
	if err != nil {
		return nil, err
	}
	encoder, err := w.encoder(options.Path, file, vocab)
	if err != nil {
		return nil, err
	}
	shape := e.shape(input)
	if w.recurrent() {
		shape.sequences = 1
	}
	session, ok := newVectorSession(w, e, shape, input, options, sink)
	if !ok {
		return nil, fmt.Errorf("llama.cpp cannot make room for inputs of %d tokens: %s", input, sink.reason())
	}
	m := &Model{
		info:     describe(options.Path, stat.ModTime(), file, vocab, input),
		vocab:    vocab,
		encoder:  encoder,
		embedder: newEmbedder(shape, func() (vectorBackend, error) { return session, nil }),
		free:     w.free,
	}
	m.embedder.backend = session
	m.info.Vectors = chat.Vectors{Size: w.dimensions(), Input: input, Vocabulary: vocab.size(), Only: true}
	return m, nil
}

// embedBeside lets a model that writes text make embeddings too. Few are
// asked for them, so that the memory is taken when the first one is.
func (m *Model) embedBeside(w *weights, e embedding, options Options, sink *logSink) {
	input := min(m.info.Context, maxInputBeside)
	shape := e.shape(input)
	if w.recurrent() {
		shape.sequences = 1
	}
	m.info.Vectors = chat.Vectors{Size: w.dimensions(), Input: input, Vocabulary: m.vocab.size()}
	m.embedder = newEmbedder(shape, func() (vectorBackend, error) {
		if !options.beside(input) {
			return nil, errNoRoom()
		}
		session, ok := newVectorSession(w, e, shape, input, options, sink)
		if !ok {
			return nil, errNoRoom().Because(errors.New(sink.reason()))
		}
		return session, nil
	})
}

func errNoRoom() *engine.Error {
	err := engine.Errorf(engine.CodeOverloaded, "The machine has no memory left for embeddings by this model; try again later.")
	err.RetryAfter = 30
	return err
}
