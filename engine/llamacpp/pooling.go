package llamacpp

import (
	"errors"
	"fmt"

	"github.com/diglot/diglot/engine/gguf"
)

// pooling says how the vectors of a text's tokens become one, by the numbers
// that GGUF files and llama.cpp have for it.
type pooling int32

const (
	poolingNone pooling = 0
	poolingMean pooling = 1
	poolingCLS  pooling = 2 // that of the first token
	poolingLast pooling = 3 // that of the last token
	poolingRank pooling = 4 // a score of how well a text answers another
)

// embedding is how a model makes vectors.
type embedding struct {
	pooling pooling
	causal  bool // a token sees those before it alone
	only    bool // the model is for nothing else
}

// embeddingOf reads it from the file. A model that writes text and says nothing
// of vectors gives that of the last token, the one that has seen all others.
func embeddingOf(file *gguf.File) (embedding, error) {
	e := embedding{pooling: poolingNone, causal: true}
	if n, ok := file.Int(file.Key("pooling_type")); ok {
		e.pooling = pooling(n)
	}
	if causal, ok := file.Bool(file.Key("attention.causal")); ok {
		e.causal = causal
	}
	if e.only = e.pooling != poolingNone || !e.causal; !e.only {
		e.pooling = poolingLast
	}
	switch e.pooling {
	case poolingMean, poolingCLS, poolingLast:
		return e, nil
	case poolingNone:
		return e, errors.New("the model writes no text, and the file does not say how it pools its vectors")
	case poolingRank:
		return e, errors.New("the model ranks texts: it makes neither text nor embeddings")
	}
	return e, fmt.Errorf("the file asks for the unknown pooling type %d", e.pooling)
}

// Sizes of batches. The longer one is, the more each of the others in the
// process has to wait, and the larger are llama.cpp's buffers.
const (
	fillBatch       = 512
	piecesOfInput   = 256  // of what a model that writes text reads at once
	maxInputs       = 64   // in a batch
	defaultMaxWhole = 2048 // tokens of an input that is read at once; what it takes grows with the square
	defaultMaxInput = 8192
	maxInputBeside  = 2048 // of a model that writes text: it needs a cache of its own for them
)

// whole says that an input must be read at once: see [embedShape].
func (e embedding) whole() bool { return !e.causal || e.pooling != poolingLast }

// shape decides what batches are like, for inputs of at most so many tokens.
func (e embedding) shape(input int) embedShape {
	s := embedShape{whole: e.whole(), fill: fillBatch, sequences: maxInputs}
	switch {
	case s.whole:
		s.rows = max(input, fillBatch)
	case e.only:
		s.rows = fillBatch
	default:
		s.rows = piecesOfInput
	}
	return s
}

// cells is how large a cache such batches need, for inputs of at most so many
// tokens.
func (s embedShape) cells(input int) int {
	return (max(input, s.fill, s.rows) + poolStep - 1) / poolStep * poolStep
}

// inputLimit is how many tokens an input of a model that is for embeddings
// alone may have. Memory, in bytes, matters where each takes a cell.
func (e embedding) inputLimit(o Options, trained int, cellBytes, memory int64) (int, error) {
	o.Context, o.Parallel = min(o.Context, trained), 1
	limit := defaultMaxInput
	if e.whole() {
		limit = defaultMaxWhole
	}
	if limit = min(limit, trained); e.causal {
		limit, _, err := size(o, limit, cellBytes, memory)
		return limit, err
	}
	if o.Context > 0 {
		limit = o.Context
	}
	return limit, nil
}
