package grammar

import (
	"context"
	"errors"
	"sync"
)

// Limits are what the schemas of one request may cost.
type Limits struct {
	Steps int // of work; a step takes some hundred nanoseconds
	Bytes int // allocated, whether they are still in use or not
}

// DefaultLimits are several times what an agent's 64 KB of tools need.
func DefaultLimits() Limits { return Limits{Steps: 2_000_000, Bytes: 64 << 20} }

// ErrTooLarge is wrapped by the errors of schemas and expressions that cost
// more than the [Budget] has.
var ErrTooLarge = errors.New("grammar: too large or too complex to enforce")

// Budget counts the steps and bytes that one request costs in this package,
// over all of its schemas. The request's context carries it, see
// [Budget.Context].
type Budget struct {
	limits Limits
	gate   *Gate

	mu     sync.Mutex
	used   Limits
	inside bool // has passed the gate
}

// NewBudget makes a budget. Work beyond a small amount waits for the gate;
// nil: there is none.
func NewBudget(limits Limits, gate *Gate) *Budget {
	return &Budget{limits: limits, gate: gate}
}

type budgetKey struct{}

// Context returns ctx with the budget. The functions of this package that
// take a context count on the budget that it carries, or on one of their own.
func (b *Budget) Context(ctx context.Context) context.Context {
	return context.WithValue(ctx, budgetKey{}, b)
}

// Used returns what was counted so far.
func (b *Budget) Used() Limits {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// Close lets the next one through the gate. The budget is not used after it.
func (b *Budget) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.inside {
		<-b.gate.inside
		b.inside = false
	}
}

// What a request may do without passing the gate: enough for a dozen small
// tools, so little that many at once are no burden.
const (
	lightSteps = 20_000
	lightBytes = 512 << 10
)

// take counts, and fails where there is no more or ctx has ended.
func (b *Budget) take(ctx context.Context, steps, bytes int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used.Steps += steps
	b.used.Bytes += bytes
	if err := ctx.Err(); err != nil {
		return err
	}
	if b.used.Steps > b.limits.Steps || b.used.Bytes > b.limits.Bytes {
		return ErrTooLarge
	}
	if b.gate == nil || b.inside || b.used.Steps <= lightSteps && b.used.Bytes <= lightBytes {
		return nil
	}
	select {
	case b.gate.inside <- struct{}{}:
		b.inside = true
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// note counts what has been spent.
func (b *Budget) note(steps, bytes int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used.Steps += steps
	b.used.Bytes += bytes
}

// Gate bounds how many requests do heavy work at the same time, in the order
// in which they came.
type Gate struct{ inside chan struct{} }

// NewGate lets n through at a time.
func NewGate(n int) *Gate { return &Gate{make(chan struct{}, n)} }

// meter counts for one call of this package. Its counts go to the budget
// from time to time, and that is also when it looks whether the context has
// ended. A nil meter counts nothing: that is for what is ours.
type meter struct {
	ctx    context.Context
	budget *Budget
	steps  int // since the last look
	bytes  int
}

// A look at the budget and the context is due after so much.
const (
	lookSteps = 1024
	lookBytes = 128 << 10
)

// halt is thrown by spend and caught by settle: the recursions that count
// need not pass an error along, and none can forget to.
type halt struct{ err error }

func newMeter(ctx context.Context) *meter {
	b, ok := ctx.Value(budgetKey{}).(*Budget)
	if !ok {
		b = NewBudget(DefaultLimits(), nil)
	}
	return &meter{ctx: ctx, budget: b}
}

// spend counts steps and bytes before they are used. It does not return where
// there are no more, or nobody waits for the result.
func (m *meter) spend(steps, bytes int) {
	if m == nil {
		return
	}
	m.steps += steps
	m.bytes += bytes
	if m.steps >= lookSteps || m.bytes >= lookBytes {
		m.look()
	}
}

func (m *meter) look() {
	steps, bytes := m.steps, m.bytes
	m.steps, m.bytes = 0, 0
	if err := m.budget.take(m.ctx, steps, bytes); err != nil {
		panic(halt{err}) // settle makes an error of it
	}
}

// settle is deferred by whoever made the meter: what spend threw becomes the
// error.
func (m *meter) settle(err *error) {
	switch thrown := recover().(type) {
	case nil:
		m.budget.note(m.steps, m.bytes) // if that is a little too much, it is done all the same
	case halt:
		*err = thrown.err
	default:
		panic(thrown) // not ours
	}
}

// grown returns s with room for one more. It doubles and counts what it
// allocates, so that what a slice has cost is at most twice its capacity.
func grown[T any](m *meter, s []T, size int) []T {
	if len(s) < cap(s) {
		return s
	}
	n := max(16, 2*cap(s))
	m.spend(0, n*size)
	next := make([]T, len(s), n)
	copy(next, s)
	return next
}
