package runner

import (
	"context"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/diglot/diglot/engine"
)

// Budget limits the memory for what processes send to all [Engine]s that share it:
// for messages until they are passed on, for prompts, which go to traces, until
// their requests end. It is safe for concurrent use.
type Budget struct{ messages, prompts *semaphore.Weighted }

// Messages wait for their half of the budget. Prompts are dropped if their half is
// used up: a request that waits must hold nothing that others wait for.
const (
	allMessages = 512 << 20
	allPrompts  = 512 << 20
)

// NewBudget returns a budget of 1 GiB.
func NewBudget() *Budget {
	return &Budget{messages: semaphore.NewWeighted(allMessages), prompts: semaphore.NewWeighted(allPrompts)}
}

// reservation is what one call has reserved.
type reservation struct {
	budget           *Budget
	messages, prompt int64
}

// budgetTimeout is how long a message waits for the budget.
const budgetTimeout = 10 * time.Second

// reserve reserves memory for a message; the call holds no other reservation while
// it waits. On timeout the error is an [engine.Error].
func (s *reservation) reserve(ctx context.Context, n int64) error {
	waiting, stop := context.WithTimeout(ctx, budgetTimeout)
	defer stop()
	err := s.budget.messages.Acquire(waiting, n)
	switch {
	case err == nil:
		s.messages = n
		return nil
	case ctx.Err() != nil:
		return err
	}
	overloaded := engine.Errorf(engine.CodeOverloaded, "The server has no memory left for the model's output; try again later.").Because(err)
	overloaded.RetryAfter = 5
	return overloaded
}

// shrink reduces the reservation to the n bytes that the decoded message takes.
func (s *reservation) shrink(n int64) {
	if rest := s.messages - n; rest > 0 {
		s.budget.messages.Release(rest)
		s.messages = n
	}
}

// reservePrompt reserves memory for a prompt and reports whether it could.
func (s *reservation) reservePrompt(n int64) bool {
	if !s.budget.prompts.TryAcquire(n) {
		return false
	}
	s.prompt = n
	return true
}

// releaseMessage releases the reservation of the last message.
func (s *reservation) releaseMessage() {
	if s.messages == 0 {
		return
	}
	s.budget.messages.Release(s.messages)
	s.messages = 0
}

func (s *reservation) release() {
	s.releaseMessage()
	s.budget.prompts.Release(s.prompt)
	s.prompt = 0
}
