package chat

import (
	"bytes"
	"context"
	"math"

	"github.com/diglot/diglot/engine"
)

// echoes reports whether the request wants its prompt echoed.
func echoes(req *engine.Request) bool { return req.Prompt != nil && req.Prompt.Echo }

// score computes the log probabilities of an echoed prompt, once for all choices.
// The choices then find the whole prompt cached, so the prefill of the request is
// counted in a tally of its own.
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

// echoed returns the tokens that spell text, without the special tokens that a
// prompt has around it. They always join to the text: what cannot be aligned
// (tokenizers may normalize a text, or prepend a space) becomes one token of
// unknown probability.
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
