package runner

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/diglot/diglot/engine"
)

// allTurns is more than the requests that may run at the same time.
const allTurns = 1 << 30

// turns lets requests to a model run beside each other, or alone.
type turns struct {
	log  crashLog
	open *semaphore.Weighted // first come, first served
}

func newTurns() *turns { return &turns{open: semaphore.NewWeighted(allTurns)} }

// flight is a request on its way.
type flight struct {
	turns    *turns
	req      any
	key      requestKey // where it was needed
	keyed    bool
	careful  bool  // it stays alone to its end
	held     int64 // of the semaphore
	answered bool  // to its end, if only with an error

	mu    sync.Mutex
	cause bool // it ended a process
}

// enter waits until req may run. One that was running in a process that ended
// runs alone; one that ended it is refused.
func (t *turns) enter(ctx context.Context, model string, req any) (*flight, *engine.Error) {
	f := &flight{turns: t, req: req, held: 1}
	if !t.log.empty() {
		f.key, f.keyed = keyOf(req)
	}
	if f.keyed {
		crashes, refused := t.log.look(f.key)
		if refused > 0 {
			return nil, refusedReply(model, refused)
		}
		f.careful = crashes > 1
		if crashes > 0 {
			f.held = allTurns
		}
	}
	if t.log.often() {
		f.held, f.careful = allTurns, true
	}
	if err := t.open.Acquire(ctx, f.held); err != nil {
		return nil, engine.AsError(err)
	}
	return f, nil
}

// begun says that the model has begun to answer: what ends processes does so
// before, as a rule. Then others may run beside.
func (f *flight) begun() {
	if f.held > 1 && !f.careful {
		f.turns.open.Release(f.held - 1)
		f.held = 1
	}
}

// leave ends the flight.
func (f *flight) leave() {
	f.turns.open.Release(f.held)
	if f.answered && f.keyed {
		f.turns.log.acquit(f.key)
	}
}

// blame judges a request that was running in a process that ended; causes has
// the judgements of this end.
func (f *flight) blame(alone, proven bool, causes map[requestKey]bool) {
	key, ok := keyOf(f.req)
	if !ok {
		return
	}
	cause, judged := causes[key]
	if !judged {
		cause = f.turns.log.suspect(key, alone, proven)
		causes[key] = cause
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cause = f.cause || cause
}

// isCause says whether it ended a process.
func (f *flight) isCause() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.cause
}

// arrivalKey is where the context of a call has what to do once the process
// has it.
type arrivalKey struct{}

func onArrival(ctx context.Context, f func()) context.Context {
	return context.WithValue(ctx, arrivalKey{}, f)
}

// arrived does what is to be done once the process has the call.
func arrived(ctx context.Context) {
	if f, ok := ctx.Value(arrivalKey{}).(func()); ok {
		f()
	}
}

// refusedReply is the error of a request that ended a process before.
func refusedReply(model string, wait time.Duration) *engine.Error {
	e := engine.Errorf(engine.CodeEngineCrashed,
		"This very request ended the process of model %q before, and is not tried again for %s.", model, wait.Round(time.Second))
	e.NoRetry = true
	return e
}
