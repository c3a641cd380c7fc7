// Package budget counts bytes of memory that requests, or replies, hold together. They are
// reserved before they are used, so that what many clients do at once cannot
// take more than one number.
package budget

import "sync"

// Budget is a number of bytes for all requests. It is safe for concurrent use.
type Budget struct {
	mu   sync.Mutex
	free int64
}

// New returns a budget of n bytes.
func New(n int64) *Budget { return &Budget{free: n} }

// Free is how many bytes are not reserved.
func (b *Budget) Free() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.free
}

// Share returns the share of one request, which has nothing yet. That of a nil
// Budget has no limit.
func (b *Budget) Share() *Share {
	if b == nil {
		return nil
	}
	return &Share{budget: b}
}

// Share is what one request has reserved. It is safe for concurrent use.
type Share struct {
	budget *Budget
	// Both are guarded by the mutex of budget.
	held  int64
	ended bool
}

// Reserve takes n more bytes, or none and reports false where there are not so
// many, or the request has ended. A nil Share has no limit.
func (s *Share) Reserve(n int64) bool {
	if s == nil {
		return true
	}
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	if s.ended || n > s.budget.free {
		return false
	}
	s.budget.free -= n
	s.held += n
	return true
}

// Release gives everything back, at the end of the request. Nothing is reserved
// after it: what still runs for a client that has left would never give it back.
func (s *Share) Release() {
	if s == nil {
		return
	}
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	s.budget.free += s.held
	s.held, s.ended = 0, true
}
