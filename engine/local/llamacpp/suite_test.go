//go:build llamacpp && cgo

package llamacpp

import (
	"log/slog"
	"testing"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
	"github.com/diglot/diglot/engine/enginetest"
)

// TestSuite is the suite of all engines over a model that computes.
func TestSuite(t *testing.T) {
	path := modelFile(t, smallest)
	enginetest.Run(t, func(t *testing.T) engine.Engine {
		e, err := chat.New(openModel(t, Options{Path: path, Threads: 1, Context: 512}), slog.New(slog.DiscardHandler), time.Now)
		if err != nil {
			t.Fatal(err)
		}
		return e
	})
}

// TestScoresAgree holds the scores of a prompt against what the model would
// say next when it reads the prompt only so far.
func TestScoresAgree(t *testing.T) {
	m := openModel(t, Options{Path: modelFile(t, smallest), Threads: 1, Context: 512})
	text := "The capital of France is Paris. Its river is the Seine, and a café ✓ is never far."
	prompt := tokenize(t, m, text)
	scores, err := m.Score(t.Context(), chat.Job{Prompt: prompt, Logprobs: new(3)})
	if err != nil {
		t.Fatal(err)
	}
	for i := 1; i < len(prompt); i++ {
		r, err := answerOf(t.Context(), m, chat.Job{Prompt: prompt[:i], MaxTokens: 1, Logprobs: new(3)})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.pieces) == 0 {
			continue // the model would end here
		}
		for _, want := range r.pieces[0].Top {
			got := scores[i].Top[len(scores[i].Top)-1].Logprob // nothing that is not listed is likelier
			for _, likely := range scores[i].Top {
				if string(likely.Token) == string(want.Token) {
					got = likely.Logprob
				}
			}
			if got != want.Logprob {
				t.Errorf("behind %d tokens, %q has %v, and alone %v", i, want.Token, got, want.Logprob)
			}
		}
		for _, likely := range scores[i].Top {
			if string(likely.Token) == string(scores[i].Token) && likely.Logprob != scores[i].Logprob {
				t.Errorf("token %d is as likely as %v, and as %v among the likeliest", i, scores[i].Logprob, likely.Logprob)
			}
		}
	}
}
