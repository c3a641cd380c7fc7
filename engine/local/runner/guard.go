package runner

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/diglot/diglot/engine"
)

const (
	maxModels  = 1000
	maxRetry   = 24 * 60 * 60 // seconds
	maxCounted = 1 << 40      // tokens
)

// codes are the error codes that a process may return. The server returns the
// others before it calls a model.
var codes = []engine.Code{
	engine.CodeInvalidArgument,
	engine.CodeUnsupported,
	engine.CodeContextLength,
	engine.CodeModelNotFound,
	engine.CodeOverloaded,
	engine.CodeCanceled,
	engine.CodeDeadline,
	engine.CodeInternal,
	engine.CodeEngineCrashed,
}

// checkError validates an error about a request of extent x.
func checkError(w wireError, x engine.Extent) error {
	e := w.coded
	for _, text := range []string{e.Message, e.Param, e.Detail, w.cause} {
		if len(text) > engine.MaxText || !utf8.ValidString(text) {
			return fmt.Errorf("an error with a text of %d bytes: %q", len(text), truncate(text))
		}
	}
	switch {
	case !slices.Contains(codes, e.Code):
		return fmt.Errorf("an error with the code %q: %q", truncate(string(e.Code)), e.Message)
	case e.RetryAfter < 0 || e.RetryAfter > maxRetry:
		return fmt.Errorf("an error with a retry-after of %d seconds", e.RetryAfter)
	case !isCount(e.Tokens) || !isCount(e.Limit):
		return fmt.Errorf("an error about %d of %d tokens", e.Tokens, e.Limit)
	}
	return e.Place.Check(x)
}

func isCount(n int) bool { return n >= 0 && n <= maxCounted }

func checkModels(models []engine.Model) error {
	if len(models) > maxModels {
		return fmt.Errorf("%d models", len(models))
	}
	for _, m := range models {
		switch {
		case len(m.Name) > engine.MaxText || len(m.Owner) > engine.MaxText || !utf8.ValidString(m.Name+m.Owner):
			return fmt.Errorf("a model with the name %q of %q", truncate(m.Name), truncate(m.Owner))
		case !isCount(m.Context):
			return fmt.Errorf("a context of %d tokens", m.Context)
		}
	}
	return nil
}

// toEmbeddings decodes the vectors for the inputs of req.
func toEmbeddings(e embeddingInfo, bulk []byte, req *engine.EmbeddingRequest) (*engine.Embeddings, error) {
	const most = maxPayload / 4
	switch {
	case e.count != len(req.Inputs):
		return nil, fmt.Errorf("%d vectors for %d inputs", e.count, len(req.Inputs))
	case e.dimensions < 1 || e.dimensions > most || req.Dimensions > 0 && e.dimensions != req.Dimensions:
		return nil, fmt.Errorf("vectors of %d dimensions, want %d", e.dimensions, req.Dimensions)
	case len(bulk)%4 != 0 || len(bulk)/4 != e.count*e.dimensions:
		return nil, fmt.Errorf("%d bytes for %d vectors of %d dimensions", len(bulk), e.count, e.dimensions)
	case !isCount(e.tokens):
		return nil, fmt.Errorf("%d prompt tokens", e.tokens)
	}
	numbers := make([]float32, len(bulk)/4)
	for i := range numbers {
		numbers[i] = math.Float32frombits(binary.LittleEndian.Uint32(bulk[4*i:]))
		if x := float64(numbers[i]); math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, fmt.Errorf("a vector with %v in it", x)
		}
	}
	out := &engine.Embeddings{PromptTokens: e.tokens, Vectors: make([][]float32, 0, e.count)}
	for v := range slices.Chunk(numbers, e.dimensions) {
		out.Vectors = append(out.Vectors, slices.Clip(v))
	}
	return out, nil
}

// fromEmbeddings encodes vectors.
func fromEmbeddings(e *engine.Embeddings) (embeddingInfo, []byte, error) {
	if e == nil || len(e.Vectors) == 0 {
		return embeddingInfo{}, nil, errors.New("no vectors")
	}
	dimensions := len(e.Vectors[0])
	if size := 4 * dimensions * len(e.Vectors); size > maxPayload {
		return embeddingInfo{}, nil, fmt.Errorf("vectors of %d bytes", size)
	}
	bulk := make([]byte, 0, 4*dimensions*len(e.Vectors))
	for _, v := range e.Vectors {
		if len(v) != dimensions {
			return embeddingInfo{}, nil, fmt.Errorf("vectors of %d and of %d dimensions", dimensions, len(v))
		}
		for _, x := range v {
			bulk = binary.LittleEndian.AppendUint32(bulk, math.Float32bits(x))
		}
	}
	return embeddingInfo{count: len(e.Vectors), dimensions: dimensions, tokens: e.PromptTokens}, bulk, nil
}

// mediaTypes are those of generated images.
var mediaTypes = []string{"image/png", "image/jpeg", "image/webp"}

// withImage adds the payload to an event that has an image.
func withImage(event engine.Event, data []byte) (engine.Event, error) {
	switch e := event.(type) {
	case engine.Preview:
		e.Image.Data = data
		return e, checkImage(e.Image)
	case engine.Drawn:
		e.Image.Data = data
		return e, checkImage(e.Image)
	}
	if data != nil {
		return nil, fmt.Errorf("%d bytes for a %T", len(data), event)
	}
	return event, nil
}

func checkImage(i engine.Image) error {
	switch {
	case len(i.Data) == 0:
		return errors.New("an empty image")
	case !slices.Contains(mediaTypes, i.MediaType):
		return fmt.Errorf("an image of type %q", truncate(i.MediaType))
	}
	return nil
}
