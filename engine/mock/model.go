package mock

import (
	"context"
	"hash/fnv"
	"iter"
	"math"
	"strconv"
	"sync"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
	"github.com/diglot/diglot/engine/chat/format"
	"github.com/diglot/diglot/engine/chat/prompt"
)

const (
	// Dimensions is the number of dimensions of an embedding.
	Dimensions = 1536

	// Context is the most tokens of one request.
	Context = 131_072

	inputTokens = 8192    // most tokens of one input for an embedding
	vocabulary  = 1 << 20 // more than real models have, whose token ids clients may send
	imageTokens = 64
)

// name is the name of the raw model.
const name = "mock"

// model is a [chat.Model] whose output is made from the request.
type model struct {
	closed chan struct{}
	close  sync.Once
}

func newModel() *model { return &model{closed: make(chan struct{})} }

// Info implements [chat.Model].
func (m *model) Info() chat.Info {
	return chat.Info{
		Name:    name,
		Owner:   engine.Owner(name),
		Format:  format.Hermes,
		Context: Context,
		Vision:  true,
		FIM:     prompt.FIM{Prefix: "<fim_prefix>", Suffix: "<fim_suffix>", Middle: "<fim_middle>"},
		Vectors: chat.Vectors{Size: Dimensions, Input: inputTokens, Vocabulary: vocabulary},
	}
}

// Close implements [chat.Model].
func (m *model) Close() error {
	m.close.Do(func() { close(m.closed) })
	return nil
}

// Tokenize implements [chat.Model]. Only the number of tokens matters.
func (m *model) Tokenize(_ context.Context, p prompt.Prompt) ([]int32, error) {
	var tokens []int32
	for _, span := range p.Spans {
		switch {
		case span.Image != nil:
			for range imageTokens {
				tokens = append(tokens, -1)
			}
		case span.Special:
			tokens = append(tokens, 0)
		default:
			tokens = append(tokens, make([]int32, count(span.Text))...)
		}
	}
	return tokens, nil
}

// Decode implements [chat.Model].
func (m *model) Decode(ctx context.Context, job chat.Job) iter.Seq2[chat.Piece, error] {
	return func(yield func(chat.Piece, error) bool) {
		text, err := write(ctx, job)
		if err != nil {
			yield(chat.Piece{}, engine.AsError(err))
			return
		}
		for i, token := range split(text) {
			if err := m.ended(ctx); err != nil {
				yield(chat.Piece{}, err)
				return
			}
			if i >= job.MaxTokens {
				yield(chat.Piece{End: chat.EndLength}, nil)
				return
			}
			if !yield(piece(token, job.Logprobs), nil) {
				return
			}
		}
		yield(chat.Piece{End: chat.EndOfTurn}, nil)
	}
}

// ended returns an error if the request or the model has ended.
func (m *model) ended(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return engine.AsError(ctx.Err())
	case <-m.closed:
		return engine.Errorf(engine.CodeInternal, "The server is shutting down.")
	default:
		return nil
	}
}

// Score implements [chat.Model]: the tokens of a raw prompt have the probability of
// generated ones.
func (m *model) Score(_ context.Context, job chat.Job) ([]engine.TokenLogprob, error) {
	var tokens []engine.TokenLogprob
	for i, text := range split(job.Request.Prompt.Text) {
		t := engine.TokenLogprob{Token: []byte(text), Logprob: math.NaN()}
		if i > 0 {
			t.Logprob, t.Top = -math.Ln2, alternatives(text, *job.Logprobs)
		}
		tokens = append(tokens, t)
	}
	return tokens, nil
}

func piece(token string, logprobs *int) chat.Piece {
	p := chat.Piece{Bytes: []byte(token), Logprob: -math.Ln2}
	if logprobs != nil {
		p.Top = alternatives(token, *logprobs)
	}
	return p
}

// alternatives returns the n most likely tokens, of which text is the first.
func alternatives(text string, n int) []engine.TokenLogprob {
	var top []engine.TokenLogprob
	for i := range n {
		token := text
		if i > 0 {
			token = " alternative" + strconv.Itoa(i)
		}
		top = append(top, engine.TokenLogprob{Token: []byte(token), Logprob: -math.Ln2 * float64(i+1)})
	}
	return top
}

// TokenizeInput implements [chat.Embedder]: the id of a token is its hash.
func (m *model) TokenizeInput(_ context.Context, text string) ([]int32, error) {
	var tokens []int32
	for _, token := range split(text) {
		hash := fnv.New32a()
		hash.Write([]byte(token))
		tokens = append(tokens, int32(hash.Sum32()%vocabulary))
	}
	return tokens, nil
}

// Embed implements [chat.Embedder]. A text has the sum of its tokens' vectors, each of
// pseudorandom numbers.
func (m *model) Embed(ctx context.Context, inputs [][]int32) ([][]float32, error) {
	vectors := make([][]float32, len(inputs))
	for i, tokens := range inputs {
		vectors[i] = make([]float32, Dimensions)
		for _, token := range tokens {
			if err := m.ended(ctx); err != nil {
				return nil, err
			}
			add(vectors[i], uint64(token))
		}
	}
	return vectors, nil
}

// add adds the vector of a token: splitmix64 from its id on, which needs no state per
// token.
func add(vector []float32, state uint64) {
	for k := range vector {
		state += 0x9e3779b97f4a7c15
		z := (state ^ state>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		vector[k] += float32(int32((z^z>>31)>>32)) / (1 << 31)
	}
}
