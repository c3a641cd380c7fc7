package grammar

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"runtime"
	"slices"
	"testing"
)

// budgeted is a context with a budget of its own. It ends with its endAt-th
// look, if that is set.
type budgeted struct {
	context.Context
	budget       *Budget
	looks, endAt int
}

func newBudgeted(limits Limits) *budgeted {
	b := &budgeted{budget: NewBudget(limits, nil)}
	b.Context = b.budget.Context(context.Background())
	return b
}

func (b *budgeted) Err() error {
	if b.looks++; b.endAt > 0 && b.looks >= b.endAt {
		return context.Canceled
	}
	return nil
}

// compileSchema is what a request with one schema costs.
func compileSchema(ctx context.Context, schema string) (*Grammar, error) {
	n, _, err := Schema(ctx, json.RawMessage(schema))
	if err != nil {
		return nil, err
	}
	return Compile(ctx, n)
}

// allocated is how many bytes were allocated so far.
func allocated() int {
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return int(s.TotalAlloc)
}

// slack is what a measurement of the heap may be off by.
const slack = 1 << 20

// Whatever a schema asks for is done within the limits or refused, and what is
// counted is at least what is really allocated.
func TestHostileSchemas(t *testing.T) {
	limits := DefaultLimits()
	for _, name := range slices.Sorted(maps.Keys(hostileSchemas)) {
		ctx := newBudgeted(limits)
		before := allocated()
		g, err := compileSchema(ctx, hostileSchemas[name])
		real, used := allocated()-before, ctx.budget.Used()
		t.Logf("%s: %d bytes, %d steps, %d bytes counted, %d allocated: %v", name, len(hostileSchemas[name]), used.Steps, used.Bytes, real, err)
		if real > min(used.Bytes, limits.Bytes)+slack {
			t.Errorf("%s: %d bytes are allocated and %d counted", name, real, used.Bytes)
		}
		var wrong *SchemaError
		switch {
		case err == nil && (used.Steps > limits.Steps+checkSteps || used.Bytes > limits.Bytes+checkBytes):
			t.Errorf("%s: it is done with %v, beyond the limits", name, used)
		case err == nil && g.Size() > used.Bytes:
			t.Errorf("%s: a grammar of %d bytes was made of %d", name, g.Size(), used.Bytes)
		case err != nil && !errors.Is(err, ErrTooLarge) && !errors.As(err, &wrong):
			t.Errorf("%s: got %v", name, err)
		}
	}
	if len(hostileSchemas) < 60 {
		t.Errorf("there are only %d schemas", len(hostileSchemas))
	}
}

// Small limits end each schema early, with what they allow and hardly more.
func TestSmallBudget(t *testing.T) {
	limits := Limits{Steps: 500, Bytes: 100_000}
	for name, schema := range hostileSchemas {
		ctx := newBudgeted(limits)
		before := allocated()
		if _, err := compileSchema(ctx, schema); err == nil && ctx.budget.Used().Steps > 2*checkSteps {
			t.Errorf("%s: it is done with %v", name, ctx.budget.Used())
		}
		if real := allocated() - before; real > 2*slack {
			t.Errorf("%s: %d bytes are allocated", name, real)
		}
	}
}

// Work ends with the look that finds the context ended, wherever that is.
func TestCancel(t *testing.T) {
	limits := Limits{Steps: 300_000, Bytes: 10 << 20}
	for name, schema := range hostileSchemas {
		whole := newBudgeted(limits)
		_, err := compileSchema(whole, schema)
		if steps := whole.budget.Used().Steps; err == nil && whole.looks < steps/(20*checkSteps) {
			t.Errorf("%s: %d looks for %d steps", name, whole.looks, steps)
		}
		for at := range slices.Values([]int{whole.looks / 2, whole.looks}) {
			if at == 0 {
				continue
			}
			ctx := newBudgeted(limits)
			ctx.endAt = at
			if _, err := compileSchema(ctx, schema); !errors.Is(err, context.Canceled) {
				t.Errorf("%s: got %v after look %d of %d", name, err, at, whole.looks)
			}
			if ctx.looks != at {
				t.Errorf("%s: it goes on for %d looks after its end", name, ctx.looks-at)
			}
		}
	}
}

// One budget is for all that a request sends.
func TestOneBudget(t *testing.T) {
	ctx := newBudgeted(Limits{Steps: 60_000, Bytes: 10 << 20})
	schema, _ := wideSchema(50)
	n := 0
	var err error
	for ; err == nil && n < 100; n++ {
		_, err = compileSchema(ctx, schema)
	}
	if !errors.Is(err, ErrTooLarge) || n < 2 {
		t.Errorf("got %v after %d schemas", err, n)
	}
}

// The compiler tells which schema costs most.
func TestCostError(t *testing.T) {
	small, _, err := Schema(context.Background(), json.RawMessage(`{"type":"object","properties":{"a":{"enum":[1,2]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	large, _, err := Schema(context.Background(), json.RawMessage(`{"pattern":"`+nested(400, `\\p{L}x`, ``, ``)+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct{ root, most Node }{
		"schema":   {Seq(small, Literal("x"), large), large},
		"literals": {Seq(small, Repeat(Choice(Literal(nested(250_000, "x", "", "")), Literal("y")), 0, 1)), nil},
	} {
		_, err := Compile(context.Background(), row.root)
		var cost *CostError
		if !errors.As(err, &cost) || !errors.Is(err, ErrTooLarge) || cost.Most != row.most {
			t.Errorf("%s: got %#v, want a CostError of %v", name, err, row.most)
		}
	}
}

// Heavy work goes through the gate, one after the other; light work and the
// end of a context do not wait.
func TestGate(t *testing.T) {
	gate := NewGate(1)
	heavy, _ := wideSchema(200)
	first := NewBudget(DefaultLimits(), gate)
	if _, err := compileSchema(first.Context(context.Background()), heavy); err != nil {
		t.Fatal(err)
	}
	light := NewBudget(DefaultLimits(), gate)
	if _, err := compileSchema(light.Context(context.Background()), `{"type":"object"}`); err != nil {
		t.Errorf("light work: %v", err)
	}
	light.Close()

	ctx, cancel := context.WithCancel(context.Background())
	left, second := NewBudget(DefaultLimits(), gate), NewBudget(DefaultLimits(), gate)
	done := make(chan error)
	go func() { _, err := compileSchema(left.Context(ctx), heavy); done <- err }()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("who has left gets %v", err)
	}
	go func() { _, err := compileSchema(second.Context(context.Background()), heavy); done <- err }()
	select {
	case err := <-done:
		t.Errorf("the second did not wait: %v", err)
	default:
	}
	first.Close()
	if err := <-done; err != nil {
		t.Errorf("the second: %v", err)
	}
	if second.Close(); len(gate.inside) != 0 {
		t.Error("somebody is inside")
	}
}
