package handlers

import (
	"sync/atomic"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/handlers/internal/validate"
	"github.com/diglot/diglot/internal/budget"
)

const (
	// DefaultMaxBody is the most bytes that a request body may have.
	DefaultMaxBody = 64 << 20

	// DefaultMaxBodies is the most bytes of memory that all bodies under way
	// may take: four for each that has arrived.
	DefaultMaxBodies = 512 << 20

	// DefaultMaxRequests is how many requests may be under way that a model
	// answers, those that wait for one included.
	DefaultMaxRequests = 1024
)

// LeastBodies is how many bytes of memory one body of maxBody bytes may need: a
// budget with less would never take it.
func LeastBodies(maxBody int64) int64 { return budget.Least(validate.Most(maxBody)) }

// Budget is what the requests of all handlers that have it may take together.
// It is safe for concurrent use.
type Budget struct {
	bodies   *budget.Budget
	requests atomic.Int64
	most     int64 // requests
}

// NewBudget returns a budget of so many bytes for bodies and what is made of
// them, and of so many requests.
func NewBudget(bodies int64, requests int) *Budget {
	return &Budget{bodies: budget.New(bodies), most: int64(requests)}
}

// room says that there is no place left, before a body is read that would be
// refused.
func (b *Budget) room() *engine.Error {
	if b.requests.Load() < b.most {
		return nil
	}
	return tooManyRequests()
}

// place is that of one request, once its body is there: who only says that one
// comes has none.
type place struct {
	budget *Budget
	taken  bool
}

// enter takes the place, which leave gives back. The error says that there is
// none.
func (p *place) enter() *engine.Error {
	if p.budget.requests.Add(1) > p.budget.most {
		p.budget.requests.Add(-1)
		return tooManyRequests()
	}
	p.taken = true
	return nil
}

func (p *place) leave() {
	if p.taken {
		p.budget.requests.Add(-1)
	}
}

func tooManyRequests() *engine.Error {
	err := engine.Errorf(engine.CodeOverloaded, "Too many requests are under way; try again later.")
	err.RetryAfter = 5
	return err
}
