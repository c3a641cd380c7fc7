package openai

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"math"
	"net/http"

	"github.com/diglot/diglot/engine"
	wire "github.com/diglot/diglot/gen/openai"
	"github.com/diglot/diglot/handlers/internal/exchange"
	"github.com/diglot/diglot/handlers/internal/optional"
)

// CreateEmbedding turns texts into vectors.
func (a *API) CreateEmbedding(ctx context.Context, in wire.CreateEmbeddingRequestObject) (wire.CreateEmbeddingResponseObject, error) {
	req, err := toEmbeddingRequest(in.Body)
	if err != nil {
		return nil, err
	}
	x := exchange.From(ctx)
	x.Asks(req.Model)
	embeddings, err := a.engine.Embed(ctx, req)
	if err != nil {
		return nil, atInput(err, in.Body.Input)
	}
	x.Used(engine.Usage{PromptTokens: embeddings.PromptTokens})
	encode := fromVector[optional.Or(in.Body.EncodingFormat, wire.EmbeddingEncodingFormatFloat)]
	return embeddingReply(fromEmbeddings(req.Model, embeddings, encode)), nil
}

// embeddingReply is the reply.
type embeddingReply wire.EmbeddingList

// VisitCreateEmbeddingResponse writes the reply.
func (r embeddingReply) VisitCreateEmbeddingResponse(w http.ResponseWriter) error {
	return exchange.Reply(w, r)
}

func toEmbeddingRequest(in *wire.CreateEmbeddingRequest) (*engine.EmbeddingRequest, error) {
	inputs, err := toEmbeddingInputs(in.Input)
	if err != nil {
		return nil, err
	}
	return &engine.EmbeddingRequest{
		Model:      in.Model,
		Inputs:     inputs,
		Dimensions: optional.Bound(optional.Or(in.Dimensions, 0)),
	}, nil
}

// toEmbeddingInputs tries the forms of an input. The document has seen to it
// that one fits; of those that do not, decoding stops at the first value.
func toEmbeddingInputs(in wire.EmbeddingInput) ([]engine.EmbeddingInput, error) {
	if text, err := in.AsEmbeddingText(); err == nil {
		return []engine.EmbeddingInput{{Text: text}}, nil
	}
	if texts, err := in.AsEmbeddingTexts(); err == nil {
		inputs := make([]engine.EmbeddingInput, len(texts))
		for i, text := range texts {
			inputs[i].Text = text
		}
		return inputs, nil
	}
	if tokens, err := in.AsEmbeddingTokens(); err == nil {
		return []engine.EmbeddingInput{{Tokens: tokens}}, nil
	}
	lists, err := in.AsEmbeddingTokenLists()
	if err != nil {
		return nil, err
	}
	inputs := make([]engine.EmbeddingInput, len(lists))
	for i, tokens := range lists {
		inputs[i].Tokens = tokens
	}
	return inputs, nil
}

// atInput names the input that an error is about. One that is not in a list
// has no index: the first of its tokens would be meant by it.
func atInput(err error, in wire.EmbeddingInput) error {
	var coded *engine.Error
	if !errors.As(err, &coded) || coded.Place.Field != engine.FieldInput {
		return err
	}
	_, notText := in.AsEmbeddingText()
	_, notTokens := in.AsEmbeddingTokens()
	if notText == nil || notTokens == nil {
		coded.Param = "input"
	}
	return coded
}

func fromEmbeddings(model string, e *engine.Embeddings, encode func([]float32) wire.EmbeddingVector) wire.EmbeddingList {
	out := wire.EmbeddingList{
		Object: wire.EmbeddingListObjectList,
		Data:   make([]wire.Embedding, len(e.Vectors)),
		Model:  model,
		Usage:  wire.EmbeddingUsage{PromptTokens: e.PromptTokens, TotalTokens: e.PromptTokens},
	}
	for i, vector := range e.Vectors {
		out.Data[i] = wire.Embedding{Object: wire.EmbeddingObjectEmbedding, Index: i, Embedding: encode(vector)}
	}
	return out
}

// fromVector holds the ways to write a vector.
var fromVector = map[wire.EmbeddingEncodingFormat]func([]float32) wire.EmbeddingVector{
	wire.EmbeddingEncodingFormatFloat:  fromNumbers,
	wire.EmbeddingEncodingFormatBase64: fromBytes,
}

// fromNumbers writes each number with as few digits as tell it from the next
// 32-bit one.
func fromNumbers(vector []float32) (out wire.EmbeddingVector) {
	_ = out.FromEmbeddingNumbers(vector) // an engine gives finite numbers, so it cannot fail
	return out
}

func fromBytes(vector []float32) (out wire.EmbeddingVector) {
	bytes := make([]byte, 0, 4*len(vector))
	for _, x := range vector {
		bytes = binary.LittleEndian.AppendUint32(bytes, math.Float32bits(x))
	}
	_ = out.FromEmbeddingBase64(base64.StdEncoding.EncodeToString(bytes)) // a string cannot fail
	return out
}
