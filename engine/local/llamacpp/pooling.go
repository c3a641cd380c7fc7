package llamacpp

import (
	"errors"
	"fmt"
	"strings"

	"github.com/diglot/diglot/engine/gguf"
	"github.com/diglot/diglot/engine/local/decode"
	"github.com/diglot/diglot/engine/local/memory"
)

// pooling says how the vectors of a text's tokens become one, by the numbers
// that GGUF files and llama.cpp have for it.
type pooling int32

const (
	poolingNone pooling = gguf.PoolingNone
	poolingMean pooling = gguf.PoolingMean
	poolingCLS  pooling = gguf.PoolingCLS
	poolingLast pooling = gguf.PoolingLast
	poolingRank pooling = gguf.PoolingRank
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
	e := embedding{pooling: pooling(file.Pooling()), causal: file.Causal()}
	if e.only, _ = file.Embeds(); !e.only {
		e.pooling = poolingLast
	}
	switch e.pooling {
	case poolingMean, poolingCLS, poolingLast:
		if e.only && !makesVectors(file) {
			return e, fmt.Errorf("%s is not 0: llama.cpp makes no vectors with such models", file.Key("n_deepstack_layers"))
		}
		return e, nil
	case poolingNone:
		return e, errors.New("the model writes no text, and the file does not say how it pools its vectors")
	case poolingRank:
		return e, errors.New("the model ranks texts: it makes neither text nor embeddings")
	}
	return e, fmt.Errorf("the file asks for the unknown pooling type %d", e.pooling)
}

// makesVectors is false for models that take more numbers for a part of a picture
// than they have for a token: llama.cpp reads as many of its vectors, and ends
// the process.
func makesVectors(file *gguf.File) bool {
	deep, _ := file.Int(file.Key("n_deepstack_layers"))
	return deep == 0 || !strings.HasPrefix(file.Architecture(), "qwen3vl") // others do not read it
}

// Sizes of batches. The longer one is, the more each of the others in the
// process has to wait, and the larger are llama.cpp's buffers.
const (
	fillBatch      = memory.Whole
	piecesOfInput  = 256  // of what a model that writes text reads at once
	maxInputs      = 64   // in a batch
	maxInputBeside = 2048 // of a model that writes text: it needs a cache of its own for them
)

// whole says that an input must be read at once: see [embedShape].
func (e embedding) whole() bool { return !e.causal || e.pooling != poolingLast }

// shape decides what batches are like, for inputs of at most so many tokens.
func (e embedding) shape(input int) decode.EmbedShape {
	s := decode.EmbedShape{Whole: e.whole(), Fill: fillBatch, Sequences: maxInputs}
	switch {
	case s.Whole:
		// llama.cpp plans for as many tokens of each sequence, and ends the
		// process where they do not come out even.
		s.Rows = (max(input, fillBatch) + maxInputs - 1) / maxInputs * maxInputs
	case e.only:
		s.Rows = fillBatch
	default:
		s.Rows = piecesOfInput
	}
	return s
}

// cacheOf is how large a cache such batches need, for inputs of at most so many
// tokens.
func cacheOf(s decode.EmbedShape, input int) int {
	const poolStep = 256 // what llama.cpp rounds the number of cells to
	return (max(input, s.Fill, s.Rows) + poolStep - 1) / poolStep * poolStep
}
