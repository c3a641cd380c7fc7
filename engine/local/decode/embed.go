package decode

import (
	"context"
	"slices"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/prompt"
)

// TokenizeInput tokenizes a text to embed; see [chat.Embedder].
func (m *Model) TokenizeInput(ctx context.Context, text string) ([]int32, error) {
	tokens, err := m.Tokenize(ctx, prompt.Prompt{Spans: []prompt.Span{{Text: text}}})
	if err != nil {
		return nil, err
	}
	return append(tokens, m.vocab.Suffix...), nil
}

// Embed computes embeddings; see [chat.Embedder].
func (m *Model) Embed(ctx context.Context, inputs [][]int32) ([][]float32, error) {
	if m.embedder == nil {
		return nil, engine.Errorf(engine.CodeUnsupported, "The model makes no embeddings.")
	}
	vectors, err := m.embedder.embed(ctx, inputs)
	if err != nil {
		return nil, err // typed, so that nil stays nil
	}
	return vectors, nil
}

// Suffix returns the tokens that a tokenizer appends to a text, given the tokens
// of one text with and without special tokens.
func Suffix(whole, plain []int32) []int32 {
	for i := len(whole) - len(plain); i >= 0; i-- {
		if slices.Equal(whole[i:i+len(plain)], plain) {
			return slices.Clone(whole[i+len(plain):])
		}
	}
	return nil
}
