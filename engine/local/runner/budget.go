package runner

import (
	"context"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/diglot/diglot/engine"
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

// roomTimeout is how long a message waits for room that others have.
const roomTimeout = 10 * time.Second

// reserve waits for room for a message. Nothing is held while it does. Where
// there is none for long, the error is an [engine.Error].
func (s *share) reserve(ctx context.Context, n int64) error {
	waiting, stop := context.WithTimeout(ctx, roomTimeout)
	defer stop()
	err := s.budget.messages.Acquire(waiting, n)
	switch {
	case err == nil:
		s.messages = n
		return nil
	case ctx.Err() != nil:
		return err
	}
	overloaded := engine.Errorf(engine.CodeOverloaded, "The server has no room for the model's answer; try again later.").Because(err)
	overloaded.RetryAfter = 5
	return overloaded
}

// settle gives back what was reserved for a message beyond the n bytes that it
// has turned out to hold, for as long as its request takes with it.
func (s *share) settle(n int64) {
	if rest := s.messages - n; rest > 0 {
		s.budget.messages.Release(rest)
		s.messages = n
	}
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
