package decode

import (
	"context"
	"math"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
)

// checkScores holds scores against what counter's model says: the token that
// is one above the last has logit 1, all others have 0.
func checkScores(t *testing.T, prompt []int32, scores []engine.TokenLogprob) {
	t.Helper()
	if len(scores) != len(prompt) || !math.IsNaN(scores[0].Logprob) {
		t.Fatalf("%d scores of %d tokens, the first %+v", len(scores), len(prompt), scores[0])
	}
	for i, s := range scores[1:] {
		want := -math.Log(math.E + 999)
		if prompt[i+1] == prompt[i]+1 {
			want++
		}
		if math.Abs(s.Logprob-want) > 1e-6 || len(s.Top) != 2 || s.Top[0].Logprob < s.Top[1].Logprob {
			t.Errorf("token %d of %d: %+v, want %v", i+1, len(prompt), s, want)
		}
	}
}

func TestScore(t *testing.T) {
	for name, tokens := range map[string][]int32{
		"one token":                 {5},
		"two":                       {5, 6},
		"as long as a batch":        slices.Concat(testPrompt(1, scoreChunk-2, 5), []int32{6, 7}),
		"several batches":           slices.Concat(testPrompt(1, 300, 5), []int32{6, 8}),
		"as long as a context gets": testPrompt(2, 510, 7),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCounter(t, 1024)
				m := countingModel(t, c, 2, 512)
				job := chat.Job{Prompt: tokens, MaxTokens: 3, Logprobs: new(2)}
				for range 2 { // the second must not share the first's prefix
					before := c.read
					scores, err := m.Score(t.Context(), job)
					if err != nil {
						t.Fatal(err)
					}
					checkScores(t, tokens, scores)
					if read := c.read - before; read != len(tokens)-1 {
						t.Errorf("%d tokens were decoded, of %d", read, len(tokens))
					}
				}
				// Generation shares the scored prefix.
				if r := collect(t.Context(), m, job); r.err != nil || r.end.Cached != len(tokens)-1 {
					t.Errorf("%d of %d tokens were cached, error %v", r.end.Cached, len(tokens), r.err)
				}
				m.Close()
			})
		})
	}
}

// TestScoreBesideOthers scores prompts while others generate, with preemption.
func TestScoreBesideOthers(t *testing.T) { eachWay(t, testScoreBesideOthers) }

func testScoreBesideOthers(t *testing.T, independent bool) {
	synctest.Test(t, func(t *testing.T) {
		c := newCounter(t, 512)
		c.independent = independent
		m := countingModel(t, c, 4, 400)
		var all sync.WaitGroup
		for i := range 6 {
			tokens := testPrompt(i/2, 200, int32(i))
			all.Go(func() {
				scores, err := m.Score(context.Background(), chat.Job{Prompt: tokens, Logprobs: new(2)})
				if err != nil {
					t.Error(err)
					return
				}
				checkScores(t, tokens, scores)
			})
			all.Go(func() {
				r := collect(context.Background(), m, chat.Job{Prompt: tokens, MaxTokens: 40})
				r.check(t, "beside", counted(int32(i), 40), chat.EndLength)
			})
		}
		all.Wait()
		m.Close()
	})
}

func TestScoreCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		c := newCounter(t, 1024)
		c.turn = func(step int) {
			if step == 2 {
				cancel()
			}
		}
		m := countingModel(t, c, 2, 512)
		_, err := m.Score(ctx, chat.Job{Prompt: testPrompt(1, 400, 5), Logprobs: new(0)})
		if coded := engine.AsError(err); coded == nil || coded.Code != engine.CodeCanceled {
			t.Errorf("error %v, want code %s", err, engine.CodeCanceled)
		}
		synctest.Wait()
		if c.read > 3*scoreChunk {
			t.Errorf("%d tokens were decoded after the request had ended", c.read)
		}
		m.Close()
	})
}
