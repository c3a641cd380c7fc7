package llamacpp

import (
	"errors"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/local/memory"
)

// fit decides how many tokens there is room for, before anything is loaded. A
// model that does not fit is an [*engine.Error], whose text is for the client:
// it has the numbers.
func (o Options) fit() (memory.Plan, error) {
	files := memory.Files{Model: o.Path, Projector: o.Projector, Adapters: o.Adapters}
	want := memory.Options{Context: o.Context, Parallel: o.Parallel, Threads: o.Threads}
	available, err := o.Available()
	if err != nil {
		o.Log.Warn("it is not known how much memory is free", "err", err)
		return memory.Estimate(files, want)
	}
	plan, err := memory.Fit(files, want, available)
	var refused *memory.DoesNotFit
	if errors.As(err, &refused) {
		return plan, doesNotFit(refused)
	}
	return plan, err
}

// doesNotFit is no error of the kind that clients try again after: the machine
// will be the same one.
func doesNotFit(refused *memory.DoesNotFit) *engine.Error {
	e := engine.Errorf(engine.CodeUnsupported, "%s", refused).At(engine.Place{Field: engine.FieldModel})
	e.NoRetry = true
	return e
}

// beside reports whether there is memory left for a second context, of so many
// tokens. What it takes is overestimated by what is there already once for
// the process.
func (o Options) beside(context int) bool {
	available, err := o.Available()
	if err != nil {
		return true
	}
	plan, err := memory.Estimate(memory.Files{Model: o.Path}, memory.Options{Context: context, Parallel: 1, Threads: o.Threads})
	return err == nil && plan.Cache+plan.Buffers <= available
}
