//go:build llamacpp && cgo

package llamacpp

import (
	"testing"

	"github.com/diglot/diglot/engine/chat"
)

// TestEqualRequests: a request gets the same text and probabilities whichever KV
// cells it gets, and whatever else runs.
func TestEqualRequests(t *testing.T) {
	m := openModel(t, Options{Path: modelFile(t, smallest), Threads: 1, Context: 512, Parallel: 4})
	var jobs []chat.Job
	for i, question := range questions[:5] {
		jobs = append(jobs, measured(greedy(tokenize(t, m, ask(question)), 6+3*i)))
	}
	// Each prompt is computed by the first of its requests.
	first := make([]reply, len(jobs))
	for i := range jobs {
		first[i] = decodeAll(t, m, jobs[i:i+1])[0]
	}
	check := func(name string, i int, got reply) {
		t.Helper()
		if want := len(jobs[i].Prompt) - 1; got.end.Cached != want {
			t.Fatalf("%s: %q has %d cached tokens, want %d", name, questions[i], got.end.Cached, want)
		}
		if got.text != first[i].text {
			t.Errorf("%s: %q gives %q, then %q", name, questions[i], first[i].text, got.text)
			return
		}
		for step, p := range got.pieces {
			want := first[i].pieces[step].Top
			for k, top := range p.Top {
				if top.Logprob != want[k].Logprob {
					t.Errorf("%s: %q, step %d, best %d: a log-probability of %g, then of %g", name, questions[i], step, k, want[k].Logprob, top.Logprob)
				}
			}
		}
	}
	for round := range 12 {
		i := round * 3 % len(jobs)
		check("alone", i, decodeAll(t, m, jobs[i:i+1])[0])
		if round%3 == 0 { // takes the cells that others left, and leaves others
			decodeAll(t, m, []chat.Job{greedy(tokenize(t, m, ask(questions[i])+"x"), 1+round)})
		}
	}
	for i, got := range decodeAll(t, m, jobs) {
		check("together", i, got)
	}
}
