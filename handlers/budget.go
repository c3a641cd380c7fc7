package handlers

import (
	"sync/atomic"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/handlers/internal/validate"
	"github.com/diglot/diglot/internal/budget"
)

const (
	// DefaultMaxBody limits the bytes of a request body.
	DefaultMaxBody = 64 << 20

	// DefaultMaxBodies limits the memory of all bodies in flight: four bytes for each one
	// that has arrived.
	DefaultMaxBodies = 512 << 20

	// DefaultMaxRequests limits the model requests in flight, queued ones included.
	DefaultMaxRequests = 1024
)

// MinBodies returns the memory that one body of maxBody bytes may need. A smaller budget
// would never accept it.
func MinBodies(maxBody int64) int64 { return budget.Least(validate.Most(maxBody)) }

// Budget limits what the requests of all its handlers use together. It is safe for
// concurrent use.
type Budget struct {
	bodies   *budget.Budget
	requests atomic.Int64
	most     int64 // limit of requests
}

// NewBudget returns a budget with that much memory for bodies, decoded forms included, and
// that many requests.
func NewBudget(bodies int64, requests int) *Budget {
	return &Budget{bodies: budget.New(bodies), most: int64(requests)}
}

// room returns an error if there is no slot, before a body is read in vain.
func (b *Budget) room() *engine.Error {
	if b.requests.Load() < b.most {
		return nil
	}
	return tooManyRequests()
}

// slot is the slot of one request. It is taken once the body has arrived, so that an
// announced request holds none.
type slot struct {
	budget *Budget
	taken  bool
}

// enter takes the slot, which leave releases.
func (p *slot) enter() *engine.Error {
	if p.budget.requests.Add(1) > p.budget.most {
		p.budget.requests.Add(-1)
		return tooManyRequests()
	}
	p.taken = true
	return nil
}

func (p *slot) leave() {
	if p.taken {
		p.budget.requests.Add(-1)
	}
}

func tooManyRequests() *engine.Error {
	err := engine.Errorf(engine.CodeOverloaded, "Too many requests are in progress; try again later.")
	err.RetryAfter = 5
	return err
}
