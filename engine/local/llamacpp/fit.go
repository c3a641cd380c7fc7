package llamacpp

import (
	"errors"
	"os"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/local/memory"
)

// fit plans the memory before anything is loaded. If the model does not fit, the
// error is an [*engine.Error] with the numbers.
func (o Options) fit() (memory.Plan, error) {
	files := memory.Files{Model: o.Path, Projector: o.Projector, Adapters: o.Adapters, Draft: o.Draft}
	want := memory.Options{Context: o.Context, Parallel: o.Parallel, Threads: o.Threads, LaidOut: o.Kernels.LaidOut()}
	available, err := o.Available()
	if err != nil {
		o.Log.Warn("free memory is unknown", "err", err)
		return memory.Estimate(files, want)
	}
	plan, err := memory.Fit(files, want, available)
	var refused *memory.DoesNotFit
	if errors.As(err, &refused) {
		return plan, doesNotFit(refused)
	}
	return plan, err
}

// doesNotFit is the error for the client. Retrying does not help.
func doesNotFit(refused *memory.DoesNotFit) *engine.Error {
	e := engine.Errorf(engine.CodeUnsupported, "%s", refused).At(engine.Place{Field: engine.FieldModel})
	e.NoRetry = true
	return e
}

// fitsSecondContext reports whether memory suffices for a second context beside the first,
// whose plan may be used up later. What other models do not use yet counts as free. It counts the vocabulary and the process again, so it
// overestimates.
func (o Options) fitsSecondContext(context int, first memory.Plan) bool {
	available, err := o.Available()
	if err != nil {
		return true
	}
	if used, known := memory.Resident(os.Getpid()); known {
		available -= max(first.Total()-used, 0)
	}
	plan, err := memory.Estimate(memory.Files{Model: o.Path}, memory.Options{Context: context, Parallel: 1, Threads: o.Threads})
	return err == nil && plan.Cache+plan.Buffers <= available
}
