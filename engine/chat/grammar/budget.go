package grammar

import (
	"context"
	"errors"
	"sync"
)

// Limits limit the schemas of one request.
type Limits struct {
	Steps int // some hundred nanoseconds each
	Bytes int // allocated, including garbage
}

// DefaultLimits are several times what an agent's 64 KB of tools need.
func DefaultLimits() Limits { return Limits{Steps: 2_000_000, Bytes: 64 << 20} }

// ErrTooLarge is wrapped by errors of schemas and expressions that exceed the [Budget].
var ErrTooLarge = errors.New("grammar: too large or too complex to enforce")

// Budget counts the steps and bytes of one request over all its schemas. The request's
// context carries it, see [Budget.Context].
type Budget struct {
	limits Limits
	gate   *Gate

	mu     sync.Mutex
	used   Limits
	inside bool // has passed the gate
}

// NewBudget returns a budget. Work beyond a small amount waits for the gate; nil: none.
func NewBudget(limits Limits, gate *Gate) *Budget {
	return &Budget{limits: limits, gate: gate}
}

type budgetKey struct{}

// Context returns ctx with the budget. Functions of this package that take a context use
// its budget, or a new default one.
func (b *Budget) Context(ctx context.Context) context.Context {
	return context.WithValue(ctx, budgetKey{}, b)
}

// Used returns the usage so far.
func (b *Budget) Used() Limits {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// Close leaves the gate. The budget must not be used afterwards.
func (b *Budget) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.inside {
		<-b.gate.inside
		b.inside = false
	}
}

// Work that needs not pass the gate: enough for a dozen small tools.
const (
	lightSteps = 20_000
	lightBytes = 512 << 10
)

// spend adds usage. It fails if the budget is exceeded or ctx is done.
func (b *Budget) spend(ctx context.Context, steps, bytes int) error {
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

// add adds usage without a check.
func (b *Budget) add(steps, bytes int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used.Steps += steps
	b.used.Bytes += bytes
}

// Gate limits how many requests do heavy work concurrently, first come first served.
type Gate struct{ inside chan struct{} }

// NewGate returns a gate for n requests.
func NewGate(n int) *Gate { return &Gate{make(chan struct{}, n)} }

// meter counts for one call. It checks the budget and the context from time to time. A
// nil meter counts nothing: it is for built-in expressions.
type meter struct {
	ctx    context.Context
	budget *Budget
	steps  int // since the last check
	bytes  int
}

// A check is due after so much.
const (
	checkSteps = 1024
	checkBytes = 128 << 10
)

// halt is the panic of spend that settle recovers, so that deep recursions need not
// return errors.
type halt struct{ err error }

func newMeter(ctx context.Context) *meter {
	b, ok := ctx.Value(budgetKey{}).(*Budget)
	if !ok {
		b = NewBudget(DefaultLimits(), nil)
	}
	return &meter{ctx: ctx, budget: b}
}

// spend counts steps and bytes before they are used. It panics with halt if the budget
// is exceeded or the context is done.
func (m *meter) spend(steps, bytes int) {
	if m == nil {
		return
	}
	m.steps += steps
	m.bytes += bytes
	if m.steps >= checkSteps || m.bytes >= checkBytes {
		m.check()
	}
}

func (m *meter) check() {
	steps, bytes := m.steps, m.bytes
	m.steps, m.bytes = 0, 0
	if err := m.budget.spend(m.ctx, steps, bytes); err != nil {
		panic(halt{err}) // settle makes an error of it
	}
}

// settle is deferred by the caller that made the meter. It recovers halt as an error.
func (m *meter) settle(err *error) {
	switch thrown := recover().(type) {
	case nil:
		m.budget.add(m.steps, m.bytes) // done anyway, so not checked
	case halt:
		*err = thrown.err
	default:
		panic(thrown) // not ours
	}
}

// grown returns s with capacity for one more element, and counts what it allocates. It
// doubles, so a slice costs at most twice its capacity.
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
