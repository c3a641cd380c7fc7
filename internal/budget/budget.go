// Package budget limits the memory that concurrent requests or replies hold in
// total: bytes are reserved before they are used.
package budget

import (
	"sync"
	"time"
)

// Budget is a number of bytes that all requests share. It is safe for concurrent
// use. An eighth is reserved for small requests, so that a few large ones cannot
// keep all others out.
type Budget struct {
	mu      sync.Mutex
	size    int64
	free    int64
	refused time.Time // the last one
}

// little is the maximum size, in bytes, of a small request.
const little = 1 << 20

// New returns a budget of n bytes.
func New(n int64) *Budget { return &Budget{size: n, free: n} }

// kept is the number of bytes reserved for small requests.
func (b *Budget) kept() int64 { return b.size / 8 }

// Least is the size of a budget in which one request can reserve n bytes.
func Least(n int64) int64 { return n + n/7 + 8 }

// Free is the number of bytes that are not reserved.
func (b *Budget) Free() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.free
}

// Share returns an empty share for one request. The share of a nil Budget is
// unlimited.
func (b *Budget) Share() *Share {
	if b == nil {
		return nil
	}
	return &Share{budget: b}
}

// Share is the reservation of one request. It is safe for concurrent use.
type Share struct {
	budget *Budget
	// Guarded by the mutex of budget.
	held  int64
	ended bool
}

// Reserve reserves n more bytes. It reports false if they are not free, or after
// Release. A nil Share is unlimited.
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

// Return frees a part of the reservation.
func (s *Share) Return(n int64) {
	if s == nil {
		return
	}
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	n = min(n, s.held) // nothing is left after Release
	s.budget.free += n
	s.held -= n
}

// Exceeds reports whether n more bytes would not fit even without other requests.
func (s *Share) Exceeds(n int64) bool {
	if s == nil {
		return false
	}
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	return s.held+n > s.budget.size-s.budget.kept()
}

// remembered is how long a refused reservation counts for Crowds.
const remembered = time.Minute

// Crowds reports whether this is a large request while others are refused. If it
// makes no progress, it should end.
func (s *Share) Crowds() bool {
	if s == nil {
		return false
	}
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	return s.held > little && time.Since(s.budget.refused) < remembered
}

// Release frees the reservation at the end of the request. Later reservations fail:
// leftover work for a disconnected client would never free them.
func (s *Share) Release() {
	if s == nil {
		return
	}
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	s.budget.free += s.held
	s.held, s.ended = 0, true
}
