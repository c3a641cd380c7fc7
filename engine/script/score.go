package script

import (
	"context"
	"math"
	"unicode"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
)

// Score implements [chat.Model]. Each word of a raw prompt is a token, with the
// white space before it, and has the probability of a reply's token.
func (m *Model) Score(_ context.Context, job chat.Job) ([]engine.TokenLogprob, error) {
	var tokens []engine.TokenLogprob
	for _, word := range words(job.Request.Prompt.Text) {
		t := engine.TokenLogprob{Token: []byte(word), Logprob: math.NaN()}
		if len(tokens) > 0 {
			t.Logprob, t.Top = -math.Ln2, alternatives(t.Token, *job.Logprobs)
		}
		tokens = append(tokens, t)
	}
	return tokens, nil
}

// words splits text into words, each with the white space before it.
func words(text string) []string {
	var list []string
	start, inWord := 0, false
	for i, r := range text {
		space := unicode.IsSpace(r)
		if space && inWord {
			list = append(list, text[start:i])
			start = i
		}
		inWord = !space
	}
	if start < len(text) {
		list = append(list, text[start:])
	}
	return list
}
