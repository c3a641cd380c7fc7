package chat

import (
	"context"
	"errors"
	"math"

	"github.com/diglot/diglot/engine"
)

// Embed implements [engine.Engine].
func (e *Engine) Embed(ctx context.Context, req *engine.EmbeddingRequest) (*engine.Embeddings, error) {
	if err := e.checkEmbedding(req); err != nil {
		return nil, err
	}
	inputs := make([][]int32, len(req.Inputs))
	total := 0
	for i, input := range req.Inputs {
		tokens, err := e.inputTokens(ctx, input, i)
		if err != nil {
			return nil, err
		}
		inputs[i] = tokens
		total += len(tokens)
	}
	vectors, err := e.model.Embed(ctx, inputs)
	if err != nil {
		return nil, err
	}
	for i := range vectors {
		if req.Dimensions > 0 {
			vectors[i] = vectors[i][:req.Dimensions]
		}
		if !normalise(vectors[i]) {
			err := engine.Errorf(engine.CodeInternal, "The model %s returned an embedding that cannot be normalized.", e.info.Name).At(atInput(i))
			err.NoRetry = true
			return nil, err
		}
	}
	return &engine.Embeddings{Vectors: vectors, PromptTokens: total}, nil
}

// checkEmbedding checks a request against the capabilities of the model.
func (e *Engine) checkEmbedding(req *engine.EmbeddingRequest) error {
	size := e.info.Vectors.Size
	switch {
	case !engine.SameModel(req.Model, e.info.Name):
		return engine.ModelNotFound(req.Model)
	case size == 0:
		return engine.Errorf(engine.CodeUnsupported, "The model %s makes no embeddings.", req.Model).
			At(engine.Place{Field: engine.FieldModel})
	case req.Dimensions > size:
		return engine.Errorf(engine.CodeInvalidArgument, "The vectors of the model %s have %d dimensions; %d are not among them.",
			req.Model, size, req.Dimensions).At(engine.Place{Field: engine.FieldDimensions})
	}
	return nil
}

// checkGenerates refuses text generation on an embedding-only model.
func (e *Engine) checkGenerates() error {
	if !e.info.Vectors.Only {
		return nil
	}
	return engine.Errorf(engine.CodeUnsupported, "The model %s makes embeddings and does not generate text.", e.info.Name).
		At(engine.Place{Field: engine.FieldModel})
}

// inputTokens tokenizes one input and checks its length and token ids.
func (e *Engine) inputTokens(ctx context.Context, input engine.EmbeddingInput, i int) ([]int32, error) {
	tokens := input.Tokens
	if tokens == nil && input.Text != "" {
		var err error
		tokens, err = e.model.TokenizeInput(ctx, input.Text)
		if coded := (*engine.Error)(nil); errors.As(err, &coded) && coded.Code == engine.CodeContextLength {
			return nil, e.inputTooLong(i, coded.Tokens, "more than ")
		}
		if err != nil {
			return nil, err
		}
	}
	if len(tokens) == 0 {
		return nil, engine.Errorf(engine.CodeInvalidArgument, "There is nothing in input %d to make an embedding of.", i).At(atInput(i))
	}
	v := e.info.Vectors
	for k, token := range tokens {
		if token < 0 || int(token) >= v.Vocabulary {
			return nil, engine.Errorf(engine.CodeInvalidArgument,
				"Token %d of input %d (both counted from 0) is %d, and the model %s has the tokens 0 to %d.", k, i, token, e.info.Name, v.Vocabulary-1).
				At(atInput(i))
		}
	}
	if len(tokens) > v.Input {
		return nil, e.inputTooLong(i, len(tokens), "")
	}
	return tokens, nil
}

// inputTooLong is the error for an input of n tokens. more is "more than " if
// not all of it was tokenized.
func (e *Engine) inputTooLong(i, n int, more string) *engine.Error {
	err := engine.Errorf(engine.CodeContextLength,
		"Input %d is too long: it has %s%d tokens, and the model %s takes at most %d for an embedding.",
		i, more, n, e.info.Name, e.info.Vectors.Input).At(atInput(i))
	err.Tokens, err.Limit = n, e.info.Vectors.Input
	return err
}

func atInput(i int) engine.Place { return engine.Place{Field: engine.FieldInput, Index: i} }

// normalise scales a vector to unit length. It returns false for one that is
// zero or not finite.
func normalise(vector []float32) bool {
	sum := 0.0
	for _, x := range vector {
		sum += float64(x) * float64(x)
	}
	length := math.Sqrt(sum)
	if !(length > 0) || math.IsInf(length, 1) {
		return false
	}
	for i, x := range vector {
		vector[i] = float32(float64(x) / length)
	}
	return true
}
