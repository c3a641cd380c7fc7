//go:build llamacpp && cgo

package llamacpp

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/diglot/diglot/engine/chat"
	"github.com/diglot/diglot/engine/local/decode"
)

// lonely is a backend that shares no prefixes, so that each request is read from its
// first token into empty cells, and nothing is guessed.
type lonely struct{ decode.Backend }

func (lonely) SharesPrefixes() bool { return false }

// openLonely opens a model that computes each request as if it were the first.
func openLonely(t *testing.T, options Options) *decode.Model {
	t.Helper()
	c := configured(t, options)
	c.Text.Backend, c.Text.Parallel = lonely{c.Text.Backend}, 1
	m := decode.New(c)
	t.Cleanup(func() { m.Close() })
	return m
}

// TestSameText: the answers to many prompts are the same, to the last bit of each
// log-probability, whether a request is computed alone, or with guesses, or with
// prefixes of others, or beside others, and with -long by two threads.
func TestSameText(t *testing.T) {
	for _, tt := range []struct {
		model string
		few   []asked
		many  int // with -long
	}{
		{smallest, manyPrompts(len(kinds)), 200},
		{"qwen2.5-coder-0.5b", manyPrompts(2, "copy", "rules"), 60},
		{"gemma3-270m", manyPrompts(2, "copy", "script"), 60},
	} {
		prompts := tt.few
		if *long {
			prompts = manyPrompts(tt.many)
		}
		t.Run(tt.model, func(t *testing.T) { sameText(t, tt.model, prompts) })
	}
}

func sameText(t *testing.T, model string, prompts []asked) {
	options := Options{Path: modelFile(t, model), Threads: 1, Context: 1024, Parallel: 8, NoDraft: true}
	reference := openLonely(t, options)
	jobs := make([]chat.Job, len(prompts))
	for i, p := range prompts {
		jobs[i] = measured(greedy(tokenize(t, reference, p.prompt(model)), p.most))
	}
	want := make([]reply, len(jobs))
	for i := range jobs {
		want[i] = decodeAll(t, reference, jobs[i:i+1])[0]
	}
	reference.Close()
	check := func(how string, i int, got reply) {
		t.Helper()
		same(t, fmt.Sprintf("%s, prompt %d (%s)", how, i, prompts[i].kind), want[i], got)
	}

	options.NoDraft = false
	guessing := openModel(t, options)
	for i := range jobs {
		check("with guesses", i, decodeAll(t, guessing, jobs[i:i+1])[0])
		again := decodeAll(t, guessing, jobs[i:i+1])[0]
		check("asked again", i, again)
		if want := len(jobs[i].Prompt) - 1; again.end.Cached != want {
			t.Errorf("prompt %d: %d tokens cached, want %d", i, again.end.Cached, want)
		}
	}
	if s := logStats(t, "one after another", guessing); s.Held == 0 {
		t.Error("no guess held")
	}
	guessing.Close()

	if *long {
		options.Threads = 2 // which wait for each other busily, for minutes where others take the processors
	}
	together := openModel(t, options)
	order := rand.New(rand.NewPCG(1, 1)).Perm(2 * len(jobs)) // each twice
	for i, got := range crowd(t, together, append(jobs, jobs...), order) {
		check("together", i%len(prompts), got)
	}
	if s := logStats(t, "together", together); s.Reused == 0 {
		t.Error("nothing was shared")
	}
	together.Close()
}

// logStats logs what was guessed and shared, and returns it.
func logStats(t *testing.T, how string, m *decode.Model) decode.Stats {
	t.Helper()
	s := m.Stats()
	t.Logf("%s: %d tokens in %d steps, %d of %d guessed tokens held, %d tokens read, %d shared", how, s.Generated, s.Steps, s.Held, s.Drafted, s.Prefilled, s.Reused)
	return s
}

// crowd runs the jobs in an order, eight at a time.
func crowd(t *testing.T, m *decode.Model, jobs []chat.Job, order []int) []reply {
	t.Helper()
	replies := make([]reply, len(jobs))
	errs := make([]error, len(jobs))
	next := make(chan int)
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			for i := range next {
				replies[i], errs[i] = answerOf(t.Context(), m, jobs[i])
			}
		})
	}
	for _, i := range order {
		next <- i
	}
	close(next)
	clients.Wait()
	for i, err := range errs {
		if err != nil {
			t.Fatalf("job %d: %v", i, err)
		}
	}
	return replies
}
