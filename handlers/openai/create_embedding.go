package openai

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"math"
	"net/http"
	"slices"

	"github.com/diglot/diglot/engine"
	wire "github.com/diglot/diglot/gen/openai"
	"github.com/diglot/diglot/handlers/internal/exchange"
	"github.com/diglot/diglot/handlers/internal/optional"
	"github.com/diglot/diglot/internal/plainjson"
)

// CreateEmbedding returns vectors of texts.
func (a *API) CreateEmbedding(ctx context.Context, in wire.CreateEmbeddingRequestObject) (wire.CreateEmbeddingResponseObject, error) {
	req, err := toEmbeddingRequest(in.Body)
	if err != nil {
		return nil, err
	}
	x := exchange.From(ctx)
	x.SetModel(req.Model)
	embeddings, err := a.engine.Embed(ctx, req)
	if err != nil {
		return nil, atInput(err, in.Body.Input)
	}
	x.SetUsage(engine.Usage{PromptTokens: embeddings.PromptTokens})
	if err := x.HoldVectors(embeddings.Vectors); err != nil {
		return nil, err
	}
	encode := fromVector[in.Body.EncodingFormatOrDefault()]
	return embeddingReply{x, req.Model, embeddings, encode}, nil
}

// embeddingReply streams its vectors: encoded as a whole it would take a multiple of their
// memory while the client reads.
type embeddingReply struct {
	exchange   *exchange.Exchange
	model      string
	embeddings *engine.Embeddings
	encode     func([]float32) wire.EmbeddingVector
}

// VisitCreateEmbeddingResponse writes the reply, vector by vector.
func (r embeddingReply) VisitCreateEmbeddingResponse(w http.ResponseWriter) error {
	if r.exchange.Narrows(http.StatusOK) {
		return r.exchange.Reply(w, r.list(r.all()...))
	}
	const start = `"data":[` // not in any text: quotes are escaped there
	before, behind, _ := bytes.Cut(encoded(r.list()), []byte(start))
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	out := slices.Concat(before, []byte(start))
	for i, vector := range r.embeddings.Vectors {
		one := encoded(r.list(wire.NewEmbedding(i, r.encode(vector))))
		if i > 0 {
			out = append(out, ',')
		}
		if _, err := w.Write(append(out, one[len(before)+len(start):len(one)-len(behind)]...)); err != nil {
			return nil // the client has disconnected
		}
		out = out[:0]
	}
	_, _ = w.Write(append(append(out, behind...), '\n'))
	return nil
}

// all are the vectors of the reply.
func (r embeddingReply) all() []wire.Embedding {
	var all []wire.Embedding
	for i, vector := range r.embeddings.Vectors {
		all = append(all, wire.NewEmbedding(i, r.encode(vector)))
	}
	return all
}

// list is the reply with some of the vectors.
func (r embeddingReply) list(some ...wire.Embedding) wire.EmbeddingList {
	tokens := r.embeddings.PromptTokens
	list := wire.NewEmbeddingList(r.model, wire.EmbeddingUsage{PromptTokens: tokens, TotalTokens: tokens})
	list.Data = append(list.Data, some...)
	return list
}

func encoded(list wire.EmbeddingList) []byte {
	text, _ := plainjson.Marshal(list) // strings and numbers, see fromNumbers: cannot fail
	return text
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

// toEmbeddingInputs tries the forms of an input. The document ensures that one fits;
// decoding the others fails at the first value.
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

// atInput adds the input's index to an error. A single input has none: the index would mean
// its first token.
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

// fromVector holds the encodings of a vector.
var fromVector = map[wire.EmbeddingEncodingFormat]func([]float32) wire.EmbeddingVector{
	wire.EmbeddingEncodingFormatFloat:  fromNumbers,
	wire.EmbeddingEncodingFormatBase64: fromBytes,
}

// fromNumbers writes each number with the fewest digits that identify the float32.
func fromNumbers(vector []float32) (out wire.EmbeddingVector) {
	_ = out.FromEmbeddingNumbers(vector) // an engine returns finite numbers: cannot fail
	return out
}

func fromBytes(vector []float32) (out wire.EmbeddingVector) {
	bytes := make([]byte, 0, 4*len(vector))
	for _, x := range vector {
		bytes = binary.LittleEndian.AppendUint32(bytes, math.Float32bits(x))
	}
	_ = out.FromEmbeddingBase64(base64.StdEncoding.EncodeToString(bytes)) // a string: cannot fail
	return out
}
