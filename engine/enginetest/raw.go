package enginetest

import (
	"math"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine"
)

// rawRequest is a short text for the engine's first model to continue.
func rawRequest(t *testing.T, e engine.Engine) *engine.Request {
	t.Helper()
	req := request(t, e)
	req.Messages, req.Prompt = nil, &engine.Prompt{Text: "Once upon a time, there was a café"}
	return req
}

func raw(t *testing.T, e engine.Engine) {
	req := rawRequest(t, e)
	r, err := generate(t.Context(), e, req)
	if err != nil {
		t.Fatal(err)
	}
	if r.Usage.PromptTokens < 1 || r.Usage.CompletionTokens < 1 {
		t.Errorf("usage %+v", r.Usage)
	}
	if n, err := e.Count(t.Context(), req); err != nil || n != r.Usage.PromptTokens {
		t.Errorf("Count: %d, %v; the reply says %d", n, err, r.Usage.PromptTokens)
	}
}

// wholeText returns the text of a choice, and that of its tokens.
func wholeText(c engine.Choice) (text, tokens string) {
	for _, b := range c.Blocks {
		text += b.Text
		for _, t := range b.Logprobs {
			tokens += string(t.Token)
		}
	}
	return text, tokens
}

func echo(t *testing.T, e engine.Engine) {
	req := rawRequest(t, e)
	req.Prompt.Echo, req.Logprobs, req.Choices = true, new(2), 2
	r, err := generate(t.Context(), e, req)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range r.Choices {
		text, tokens := wholeText(c)
		if !strings.HasPrefix(text, req.Prompt.Text) || len(text) == len(req.Prompt.Text) {
			t.Errorf("choice %d says %q to the prompt %q", i, text, req.Prompt.Text)
		}
		if !strings.HasPrefix(tokens, req.Prompt.Text) {
			t.Errorf("choice %d: the tokens join to %q, the text is %q", i, tokens, text)
		}
	}
}

func scored(t *testing.T, e engine.Engine) {
	req := rawRequest(t, e)
	req.Prompt.Echo, req.Logprobs, req.MaxTokens = true, new(1), new(0)
	var first []engine.TokenLogprob
	for range 2 {
		r, err := generate(t.Context(), e, req)
		if err != nil {
			t.Fatal(err)
		}
		c := r.Choices[0]
		if text, tokens := wholeText(c); text != req.Prompt.Text || tokens != text {
			t.Fatalf("the text is %q, its tokens join to %q", text, tokens)
		}
		if c.Reason != engine.FinishMaxTokens || r.Usage.CompletionTokens != 0 {
			t.Errorf("reason %q, usage %+v", c.Reason, r.Usage)
		}
		scores := c.Blocks[0].Logprobs
		for i, s := range scores {
			if math.IsNaN(s.Logprob) && i > 0 || !math.IsNaN(s.Logprob) && len(s.Top) != 1 {
				t.Errorf("token %d of %d: %+v", i, len(scores), s)
			}
			// Concurrent requests may change the last digits.
			if first != nil && math.Abs(s.Logprob-first[i].Logprob) > 0.3 {
				t.Errorf("token %d: %v, and before %v", i, s.Logprob, first[i].Logprob)
			}
		}
		first = scores
	}
}

func best(t *testing.T, e engine.Engine) {
	req := rawRequest(t, e)
	req.Choices, req.BestOf = 2, 3
	r, err := generate(t.Context(), e, req)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Choices) != 2 || r.Usage.CompletionTokens < 3 {
		t.Errorf("%d choices, usage %+v", len(r.Choices), r.Usage)
	}
}
