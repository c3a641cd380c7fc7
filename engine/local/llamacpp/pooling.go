package llamacpp

import (
	"errors"
	"fmt"
	"strings"

	"github.com/diglot/diglot/engine/gguf"
	"github.com/diglot/diglot/engine/local/decode"
	"github.com/diglot/diglot/engine/local/memory"
)

// pooling is llama_pooling_type.
type pooling int32

const (
	poolingNone pooling = gguf.PoolingNone
	poolingMean pooling = gguf.PoolingMean
	poolingCLS  pooling = gguf.PoolingCLS
	poolingLast pooling = gguf.PoolingLast
	poolingRank pooling = gguf.PoolingRank
)

// embedding is how a model computes embeddings.
type embedding struct {
	pooling    pooling
	causal     bool // attention
	embedsOnly bool // the model does not generate text
}

// embeddingOf reads the metadata. A generating model pools by the last token, the
// one that attends to all others.
func embeddingOf(file *gguf.File) (embedding, error) {
	e := embedding{pooling: pooling(file.Pooling()), causal: file.Causal()}
	if e.embedsOnly, _ = file.Embeds(); !e.embedsOnly {
		e.pooling = poolingLast
	}
	switch e.pooling {
	case poolingMean, poolingCLS, poolingLast:
		if e.embedsOnly && !makesVectors(file) {
			return e, fmt.Errorf("%s is not 0: llama.cpp makes no vectors with such models", file.Key("n_deepstack_layers"))
		}
		return e, nil
	case poolingNone:
		return e, errors.New("the model does not generate text, and the file sets no pooling type")
	case poolingRank:
		return e, errors.New("the model is a reranker: it makes neither text nor embeddings")
	}
	return e, fmt.Errorf("unknown pooling type %d", e.pooling)
}

// makesVectors is false for models with deepstack, whose image embeddings are
// longer than their hidden states: llama.cpp reads past its own and crashes.
func makesVectors(file *gguf.File) bool {
	deep, _ := file.Int(file.Key("n_deepstack_layers"))
	return deep == 0 || !strings.HasPrefix(file.Architecture(), "qwen3vl") // others do not read it
}

// Batch sizes, in tokens. Larger ones delay other requests longer and need larger
// buffers.
const (
	fillBatch         = memory.BatchRows
	inputChunk        = 256  // prefill chunk of a generating model
	maxInputs         = 64   // in a batch
	maxGeneratorInput = 2048 // of a generating model, which needs KV cells for it
)

// wholeInput: see [decode.EmbeddingLimits].
func (e embedding) wholeInput() bool { return !e.causal || e.pooling != poolingLast }

// limits returns the batch limits for inputs of at most input tokens.
func (e embedding) limits(input int) decode.EmbeddingLimits {
	s := decode.EmbeddingLimits{WholeInput: e.wholeInput(), Fill: fillBatch, Sequences: maxInputs}
	switch {
	case s.WholeInput:
		// llama.cpp reserves equal parts for the sequences, and aborts if the
		// number is not divisible.
		s.Rows = (max(input, fillBatch) + maxInputs - 1) / maxInputs * maxInputs
	case e.embedsOnly:
		s.Rows = fillBatch
	default:
		s.Rows = inputChunk
	}
	return s
}

// cellsFor returns how many KV cells such batches need.
func cellsFor(s decode.EmbeddingLimits, input int) int {
	const poolStep = 256 // what llama.cpp rounds the number of cells to
	return (max(input, s.Fill, s.Rows) + poolStep - 1) / poolStep * poolStep
}
