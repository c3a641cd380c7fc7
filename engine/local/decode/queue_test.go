package decode

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
)

func TestQueueIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCounter(t, 4096)
		m := countingModel(t, c, 1, 2048)
		gate := make(chan struct{})
		c.turn = func(int) { <-gate }
		var jobs []chat.Job
		for i := range maxQueue + 10 {
			jobs = append(jobs, chat.Job{Prompt: testPrompt(i, 3, 5), MaxTokens: 2})
		}
		var first, results []result
		var running sync.WaitGroup
		running.Go(func() { first = together(m, jobs[0]) })
		synctest.Wait() // it has left the queue
		running.Go(func() { results = together(m, jobs[1:]...) })
		synctest.Wait()
		close(gate)
		running.Wait()
		results = append(first, results...)
		overloaded := 0
		for i, r := range results {
			if r.err == nil {
				r.check(t, fmt.Sprintf("job %d", i), counted(5, 2), chat.EndLength)
				continue
			}
			if e := engine.AsError(r.err); e.Code == engine.CodeOverloaded && e.RetryAfter > 0 {
				overloaded++
			} else {
				t.Errorf("request %d: %v", i, r.err)
			}
		}
		if want := 9; overloaded != want {
			t.Errorf("%d were refused, want %d: one runs and %d wait", overloaded, want, maxQueue)
		}
		m.Close()
	})
}

// choicesOf are the jobs of a request for n choices.
func choicesOf(n int, job chat.Job) []chat.Job {
	job.Request, job.Choices = &engine.Request{}, n
	jobs := make([]chat.Job, n)
	for i := range jobs {
		jobs[i] = job
		jobs[i].Choice = i
	}
	return jobs
}

// TestFairAdmission: a later small request waits for one choice of a request for
// many, not for all.
func TestFairAdmission(t *testing.T) {
	for _, tt := range []struct {
		name     string
		parallel int
		big      int // requests for 40 choices each, all before the small one
	}{
		{"one at a time", 1, 1},
		{"two at a time", 2, 1},
		{"behind more than one", 2, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCounter(t, 4096)
				m := countingModel(t, c, tt.parallel, 512)
				gate := make(chan struct{})
				c.turn = func(int) { <-gate }
				var big atomic.Int32
				var running sync.WaitGroup
				for range tt.big {
					for _, job := range choicesOf(40, chat.Job{Prompt: testPrompt(1, 3, 5), MaxTokens: 10}) {
						running.Go(func() {
							collect(t.Context(), m, job).check(t, "a choice", counted(5, 10), chat.EndLength)
							big.Add(1)
						})
					}
					synctest.Wait()
				}
				var small atomic.Bool
				running.Go(func() {
					collect(t.Context(), m, chat.Job{Prompt: testPrompt(2, 3, 5), MaxTokens: 2}).check(t, "the small one", counted(5, 2), chat.EndLength)
					small.Store(true)
				})
				for synctest.Wait(); !small.Load(); synctest.Wait() {
					gate <- struct{}{} // one batch
				}
				if before, most := big.Load(), int32(tt.parallel*(tt.big+1)); before > most {
					t.Errorf("%d choices ended before the small request, want at most %d", before, most)
				}
				close(gate)
				running.Wait()
				m.Close()
			})
		})
	}
}

// TestQueueOfChoices: requests for many choices do not fill the queue for others.
func TestQueueOfChoices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCounter(t, 4096)
		m := countingModel(t, c, 1, 512)
		gate := make(chan struct{})
		c.turn = func(int) { <-gate }
		var running sync.WaitGroup
		ask := func(jobs []chat.Job) []result {
			results := make([]result, len(jobs))
			for i, job := range jobs {
				running.Go(func() { results[i] = collect(t.Context(), m, job) })
			}
			synctest.Wait()
			return results
		}
		job := chat.Job{Prompt: testPrompt(1, 3, 5), MaxTokens: 2}
		first := ask(choicesOf(maxQueue+2, job))
		refused := ask(choicesOf(2, job))
		single := ask([]chat.Job{job})
		for i, r := range refused {
			if e := engine.AsError(r.err); e == nil || e.Code != engine.CodeOverloaded {
				t.Errorf("choice %d of a request behind a full queue of choices: error %v", i, r.err)
			}
		}
		close(gate)
		running.Wait()
		for i, r := range append(first, single...) {
			r.check(t, fmt.Sprintf("choice %d", i), counted(5, 2), chat.EndLength)
		}
		m.Close()
	})
}
