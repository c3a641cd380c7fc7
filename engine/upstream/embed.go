package upstream

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"io"
	"math"
	"net/http"
	"regexp"
	"strconv"

	"github.com/oapi-codegen/nullable"

	"github.com/diglot/diglot/engine"
	wire "github.com/diglot/diglot/gen/openai"
)

// Embed implements [engine.Engine]. It truncates and normalises vectors if the
// server has not.
func (e *Engine) Embed(ctx context.Context, req *engine.EmbeddingRequest) (*engine.Embeddings, error) {
	out, err := e.embed(ctx, req)
	if err != nil {
		return nil, engine.AsError(err)
	}
	return out, nil
}

func (e *Engine) embed(ctx context.Context, req *engine.EmbeddingRequest) (*engine.Embeddings, error) {
	if err := e.check(req.Model); err != nil {
		return nil, err
	}
	out := &engine.Embeddings{Vectors: make([][]float32, len(req.Inputs))}
	for _, part := range partition(req.Inputs) {
		if err := e.embedPart(ctx, req, part, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// partition returns the indexes of the texts and those of the token lists: the
// style has no request with both.
func partition(inputs []engine.EmbeddingInput) [][]int {
	var texts, tokens []int
	for i, input := range inputs {
		if input.Tokens == nil {
			texts = append(texts, i)
		} else {
			tokens = append(tokens, i)
		}
	}
	var parts [][]int
	for _, part := range [][]int{texts, tokens} {
		if len(part) > 0 {
			parts = append(parts, part)
		}
	}
	return parts
}

func (e *Engine) embedPart(ctx context.Context, req *engine.EmbeddingRequest, part []int, out *engine.Embeddings) error {
	r, err := e.do(ctx, e.embedding(req, part))
	if err != nil {
		return atInput(err, req.Inputs, part)
	}
	defer r.close()
	var list embeddingList
	if err := r.decode(&list); err != nil {
		return err
	}
	if len(list.Data) != len(part) {
		return r.malformed("it does not have one vector per input")
	}
	for i, d := range list.Data {
		if d.Index != nil {
			i = int(*d.Index)
		}
		if i < 0 || i >= len(part) || out.Vectors[part[i]] != nil {
			return r.malformed("its vectors have invalid indexes")
		}
		vector, err := toVector(d.Embedding)
		if err != nil {
			return r.malformed(err.Error())
		}
		if len(vector) < req.Dimensions {
			return engine.Errorf(engine.CodeInvalidArgument, "The vectors of the model %s have %d dimensions.", req.Model, len(vector)).
				At(engine.Place{Field: engine.FieldDimensions})
		}
		if req.Dimensions > 0 {
			vector = vector[:req.Dimensions]
		}
		if !normalise(vector) {
			return r.malformed("a vector has no length")
		}
		out.Vectors[part[i]] = vector
	}
	out.PromptTokens += int(max(0, list.Usage.PromptTokens))
	return nil
}

// embeddingList is a reply to an embedding request.
type embeddingList struct {
	Data  vectors `json:"data"`
	Usage counts  `json:"usage"`
}

var limitOfItems = regexp.MustCompile(`at most (\d+) items`)

// atInput maps an error's index in a part to that in all inputs. A token list
// longer than the document of the style allows is a context length error.
func atInput(err error, inputs []engine.EmbeddingInput, part []int) error {
	coded := engine.AsError(err)
	if coded.Place.Field != engine.FieldInput || coded.Place.Index >= len(part) {
		return coded
	}
	coded.Place.Index = part[coded.Place.Index]
	tokens := len(inputs[coded.Place.Index].Tokens)
	if m := limitOfItems.FindStringSubmatch(coded.Message); m != nil && coded.Code == engine.CodeInvalidArgument {
		if limit, _ := strconv.Atoi(m[1]); tokens > limit {
			coded.Code, coded.Tokens, coded.Limit = engine.CodeContextLength, tokens, limit
		}
	}
	return coded
}

func (e *Engine) embedding(req *engine.EmbeddingRequest, part []int) operation {
	return operation{
		name: embeddings,
		each: numberWeight,
		send: func(ctx context.Context, in io.Reader, dress wire.RequestEditorFn) (*http.Response, error) {
			return e.client.CreateEmbeddingWithBody(ctx, jsonType, in, e.rewriteURL, dress)
		},
		build: func(l *fallback) (*body, error) {
			out := wire.CreateEmbeddingRequest{
				Model:          e.config.Model,
				Input:          fromInputs(req.Inputs, part),
				EncodingFormat: nullable.NewNullableWithValue(wire.EmbeddingEncodingFormatFloat), // all servers know it
			}
			m := newOptionalFields(l)
			if req.Dimensions > 0 {
				m.offer("dimensions", req.Dimensions)
			}
			return m.body(out)
		},
	}
}

func fromInputs(inputs []engine.EmbeddingInput, part []int) (out wire.EmbeddingInput) {
	if inputs[part[0]].Tokens != nil {
		lists := make([]wire.EmbeddingTokens, len(part))
		for i, at := range part {
			lists[i] = inputs[at].Tokens
		}
		setUnion(&out, lists)
		return out
	}
	texts := make([]wire.EmbeddingText, len(part))
	for i, at := range part {
		texts[i] = inputs[at].Text
	}
	setUnion(&out, texts)
	return out
}

func toVector(in wire.EmbeddingVector) ([]float32, error) {
	if numbers, err := in.AsEmbeddingNumbers(); err == nil {
		return numbers, nil
	}
	text, err := in.AsEmbeddingBase64()
	if err != nil {
		return nil, err
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, err
	}
	vector := make([]float32, len(raw)/4)
	for i := range vector {
		vector[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return vector, nil
}

// normalise scales a vector to unit length. It fails for a vector of zeros.
func normalise(vector []float32) bool {
	sum := 0.0
	for _, x := range vector {
		sum += float64(x) * float64(x)
	}
	length := math.Sqrt(sum)
	if length == 0 || math.IsInf(length, 0) || math.IsNaN(length) {
		return false
	}
	if math.Abs(length-1) < 1e-6 {
		return true // as close as float32 gets
	}
	for i := range vector {
		vector[i] = float32(float64(vector[i]) / length)
	}
	return true
}
