package upstream

import (
	"cmp"
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strconv"

	"github.com/oapi-codegen/nullable"

	"github.com/diglot/diglot/engine"
	wire "github.com/diglot/diglot/gen/openai"
)

// logprobs has the fields of both forms: of chat completions, which llama-server
// also uses for completions, and of completions.
type logprobs struct {
	Content []wire.ChatCompletionTokenLogprob `json:"content"`

	Tokens []string                     `json:"tokens"`
	Each   []nullable.Nullable[float64] `json:"token_logprobs"`
	Top    []wire.CompletionTopLogprobs `json:"top_logprobs"`
}

// UnmarshalJSON implements [json.Unmarshaler]. Other forms count as absent.
func (l *logprobs) UnmarshalJSON(b []byte) error {
	type plain logprobs
	if json.Unmarshal(b, (*plain)(l)) != nil {
		*l = logprobs{}
	}
	return nil
}

// impossible stands for the log of 0, which JSON cannot encode. vLLM uses the
// same number.
const impossible = -9999

// tokens returns the tokens with at most top alternatives each. Only the first
// token of a text may have an unknown probability.
func (l *logprobs) tokens(top int, first bool) []engine.TokenLogprob {
	if l == nil {
		return nil
	}
	var out []engine.TokenLogprob
	for _, t := range l.Content {
		token := engine.TokenLogprob{Token: toToken(t.Token, t.Bytes), Logprob: min(0, t.Logprob)}
		for _, a := range t.TopLogprobs[:min(top, len(t.TopLogprobs))] {
			token.Top = append(token.Top, engine.TokenLogprob{Token: toToken(a.Token, a.Bytes), Logprob: min(0, a.Logprob)})
		}
		out = append(out, token)
	}
	for i, text := range l.Tokens {
		token := engine.TokenLogprob{Token: toTokenBytes(text), Logprob: impossible}
		if i < len(l.Each) {
			if p, err := l.Each[i].Get(); err == nil {
				token.Logprob = min(0, p)
			} else if first && i == 0 {
				token.Logprob = math.NaN()
			}
		}
		if i < len(l.Top) && !math.IsNaN(token.Logprob) {
			token.Top = toTop(l.Top[i], top)
		}
		out = append(out, token)
	}
	return out
}

// toTop sorts the alternatives, which in this style include the token itself.
func toTop(in wire.CompletionTopLogprobs, top int) []engine.TokenLogprob {
	var out []engine.TokenLogprob
	for text, p := range in {
		out = append(out, engine.TokenLogprob{Token: toTokenBytes(text), Logprob: min(0, p)})
	}
	slices.SortFunc(out, func(a, b engine.TokenLogprob) int {
		return cmp.Or(cmp.Compare(b.Logprob, a.Logprob), slices.Compare(a.Token, b.Token))
	})
	return out[:min(top, len(out))]
}

func toToken(text string, bytes nullable.Nullable[[]int]) []byte {
	values, err := bytes.Get()
	if err != nil || len(values) == 0 {
		return []byte(text)
	}
	token := make([]byte, len(values))
	for i, v := range values {
		token[i] = byte(v)
	}
	return token
}

var (
	markedBytes = regexp.MustCompile(`^bytes:((?s:.*\\x[0-9a-f]{2}.*))$`)
	markedByte  = regexp.MustCompile(`\\x[0-9a-f]{2}`)
)

// toTokenBytes decodes a token with incomplete characters: bytes:\xe2\x9c.
func toTokenBytes(text string) []byte {
	marked := markedBytes.FindStringSubmatch(text)
	if marked == nil {
		return []byte(text)
	}
	return markedByte.ReplaceAllFunc([]byte(marked[1]), func(hex []byte) []byte {
		n, _ := strconv.ParseUint(string(hex[2:]), 16, 8) // always two digits
		return []byte{byte(n)}
	})
}
