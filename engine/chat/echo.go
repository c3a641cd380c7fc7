package chat

import (
	"bytes"
	"context"
	"math"

	"github.com/diglot/diglot/engine"
)

// echoes reports whether the answers of a request begin with its prompt.
func echoes(req *engine.Request) bool { return req.Prompt != nil && req.Prompt.Echo }

// score finds out how likely the tokens of an echoed prompt are, once for all
// answers. The model has read the whole prompt then, and the answers take that
// over; so what the request read is in a tally of its own.
func (e *Engine) score(ctx context.Context, p *plan) ([]tally, error) {
	if !echoes(p.request) || p.request.Logprobs == nil || p.request.Prompt.Text == "" {
		return nil, nil
	}
	tokens, err := e.model.Score(ctx, p.job(0))
	if err != nil {
		return nil, err
	}
	p.echoed = echoed(p.request.Prompt.Text, tokens)
	return []tally{{choice: -1}}, nil
}

// echoed returns the tokens that spell text, out of those of a whole prompt,
// which has start tokens and marks around it. The tokens of the result join
// to the text: where a tokenizer changes a text (some put a blank in front of
// it), and so the rest cannot be told, that is one token of unknown
// probability.
func echoed(text string, tokens []engine.TokenLogprob) []engine.TokenLogprob {
	var spelling []engine.TokenLogprob
	rest := []byte(text)
	for _, t := range tokens {
		if !bytes.HasPrefix(rest, t.Token) {
			t.Token = bytes.TrimPrefix(t.Token, []byte(" "))
		}
		if len(t.Token) == 0 || !bytes.HasPrefix(rest, t.Token) {
			continue
		}
		rest = rest[len(t.Token):]
		spelling = append(spelling, t)
	}
	if len(rest) > 0 {
		spelling = append(spelling, engine.TokenLogprob{Token: rest, Logprob: math.NaN()})
	}
	return spelling
}
