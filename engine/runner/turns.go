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
	careful  bool  // it stays alone to its end
	held     int64 // of the semaphore
	answered bool  // to its end, if only with an error

	mu    sync.Mutex
	req   any // until its key is known
	key   requestKey
	keyed bool
	cause bool // it ended a process
}

// identify returns the key of the request, false where it has none. The request
// itself, which may hold images, is not kept for it.
func (f *flight) identify() (requestKey, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.req != nil {
		f.key, f.keyed = keyOf(f.req)
		f.req = nil
	}
	return f.key, f.keyed
}

// known is identify for a flight whose key may not have been needed: then there
// is none.
func (f *flight) known() (requestKey, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.key, f.keyed
}

// enter waits until req may run. One that was running in a process that ended
// runs alone; one that ended it is refused.
func (t *turns) enter(ctx context.Context, model string, req any) (*flight, *engine.Error) {
	f := &flight{turns: t, req: req, held: 1}
	if !t.log.empty() {
		if key, ok := f.identify(); ok {
			crashes, refused := t.log.look(key)
			if refused > 0 {
				return nil, refusedReply(model, refused)
			}
			f.careful = crashes > 1
			if crashes > 0 {
				f.held = allTurns
			}
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
	if key, ok := f.known(); ok && f.answered {
		f.turns.log.acquit(key)
	}
}

// blame judges a request that was running in a process that ended; causes has
// the judgements of this end.
func (f *flight) blame(alone, proven bool, causes map[requestKey]bool) {
	key, ok := f.identify()
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

// isCause reports whether it ended a process.
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
