// Package budget counts bytes of memory that requests, or replies, hold together. They are
// reserved before they are used, so that what many clients do at once cannot
// take more than one number.
package budget

import (
	"sync"
	"time"
)

// Budget is a number of bytes for all requests. It is safe for concurrent use.
//
// An eighth of it is for those that hold little: a few that hold much do not
// keep all others out.
type Budget struct {
	mu      sync.Mutex
	size    int64
	free    int64
	refused time.Time // the last one
}

// little is the most bytes of a request that may have what is kept for such.
const little = 1 << 20

// New returns a budget of n bytes.
func New(n int64) *Budget { return &Budget{size: n, free: n} }

// kept is how many bytes only those have that hold little.
func (b *Budget) kept() int64 { return b.size / 8 }

// Least is how many bytes a budget must have for one request to have n.
func Least(n int64) int64 { return n + n/7 + 8 }

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
	rest := s.budget.free - n
	if s.ended {
		return false
	}
	if rest < 0 || s.held+n > little && rest < s.budget.kept() {
		s.budget.refused = time.Now()
		return false
	}
	s.budget.free -= n
	s.held += n
	return true
}

// Exceeds reports whether n more bytes are too many for this request even where
// no other holds any.
func (s *Share) Exceeds(n int64) bool {
	if s == nil {
		return false
	}
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	return s.held+n > s.budget.size-s.budget.kept()
}

// remembered is how long it counts that a request was refused.
const remembered = time.Minute

// Crowds reports whether this request holds much while others are refused. One that
// makes them wait for no reason should end.
func (s *Share) Crowds() bool {
	if s == nil {
		return false
	}
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	return s.held > little && time.Since(s.budget.refused) < remembered
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
