package script

import (
	"context"
	"hash/fnv"
	"math/rand/v2"
	"strings"

	"github.com/diglot/diglot/engine"
)

// vocabulary is the vocabulary size for embeddings, larger than that of real
// models, whose token ids clients may send.
const vocabulary = 1 << 20

// TokenizeInput implements [chat.Model]: each word is a token, with its hash as
// id.
func (m *Model) TokenizeInput(_ context.Context, text string) ([]int32, error) {
	var tokens []int32
	for word := range strings.FieldsSeq(text) {
		hash := fnv.New32a()
		hash.Write([]byte(word))
		tokens = append(tokens, int32(hash.Sum32()%vocabulary))
	}
	return tokens, nil
}

// Embed implements [chat.Model]. A text has the sum of its tokens' random
// vectors, so that texts with more words in common are closer.
func (m *Model) Embed(ctx context.Context, inputs [][]int32) ([][]float32, error) {
	vectors := make([][]float32, len(inputs))
	for i, tokens := range inputs {
		if ctx.Err() != nil {
			return nil, engine.AsError(ctx.Err())
		}
		vectors[i] = make([]float32, m.info.Vectors.Size)
		for _, token := range tokens {
			random := rand.New(rand.NewPCG(uint64(token), 0))
			for k := range vectors[i] {
				vectors[i][k] += float32(random.NormFloat64())
			}
		}
	}
	return vectors, nil
}
