package runner

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// Budget bounds the memory for what processes send, of all [Engine]s that have
// it: until it has been handed on, and prompts, which go to traces, until their
// requests have ended. It is safe for concurrent use.
type Budget struct{ messages, prompts *semaphore.Weighted }

// Half of a budget is for messages, which wait for room. The other half is for
// prompts, which are left out where there is none: what waits must not hold
// what others wait for.
const (
	allMessages = 512 << 20
	allPrompts  = 512 << 20
)

// NewBudget makes a budget of 1 GiB.
func NewBudget() *Budget {
	return &Budget{messages: semaphore.NewWeighted(allMessages), prompts: semaphore.NewWeighted(allPrompts)}
}

// share is what one call has of a budget.
type share struct {
	budget           *Budget
	messages, prompt int64
}

// reserve waits for room for a message. Nothing is held while it does.
func (s *share) reserve(ctx context.Context, n int64) error {
	if err := s.budget.messages.Acquire(ctx, n); err != nil {
		return err
	}
	s.messages = n
	return nil
}

// reservePrompt reports whether there is room for a prompt.
func (s *share) reservePrompt(n int64) bool {
	if !s.budget.prompts.TryAcquire(n) {
		return false
	}
	s.prompt = n
	return true
}

// handedOn gives back what the last message held.
func (s *share) handedOn() {
	if s.messages == 0 {
		return
	}
	s.budget.messages.Release(s.messages)
	s.messages = 0
}

// end gives back all.
func (s *share) end() {
	s.handedOn()
	s.budget.prompts.Release(s.prompt)
	s.prompt = 0
}
