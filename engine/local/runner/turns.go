package runner

import (
	"context"
	"hash/maphash"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/diglot/diglot/engine"
)

// allTurns is more than the requests that may run at the same time.
const allTurns = 1 << 30

const (
	// longestHold is how long requests wait at a time because a suspect waits
	// to run alone, and how long they then go before it.
	longestHold = 10 * time.Second

	// patience is how long a suspect waits to run alone.
	patience = time.Minute

	// longestAlone is how long a suspect runs alone. What ends a process later
	// is found by the number of processes that it ended.
	longestAlone = 5 * time.Minute
)

// turns lets requests to a model run beside each other, or alone.
type turns struct {
	log   crashLog
	seed  maphash.Seed        // of the keys of requests
	open  *semaphore.Weighted // first come, first served
	alone *semaphore.Weighted // for the one suspect that the others wait for
}

func newTurns() *turns {
	return &turns{seed: maphash.MakeSeed(), open: semaphore.NewWeighted(allTurns), alone: semaphore.NewWeighted(1)}
}

// flight is a request on its way.
type flight struct {
	turns    *turns
	answered bool // to its end, if only with an error

	mu   sync.Mutex
	held int64 // of the semaphore

	// Why it is alone; where it is for none of these, others run beside it.
	suspect bool // of one crash: until it begins to answer
	careful bool // of more: to its end
	often   bool // processes end often: until they do not
	timers  []*time.Timer

	req   any // until its key is known
	key   requestKey
	keyed bool
	cause bool // it ended a process
}

// identify returns the key of the request. The request itself, which may hold
// images, is not kept for it.
func (f *flight) identify() requestKey {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.keyed {
		f.key, f.keyed, f.req = keyOf(f.turns.seed, f.req), true, nil
	}
	return f.key
}

// known is identify for a flight whose key may not have been needed: then there
// is none.
func (f *flight) known() (requestKey, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.key, f.keyed
}

// enter waits until req may run. One that was running in a process that ended
// runs alone; one that ended it is refused, also where it did so while this one,
// which is the same, waited.
func (t *turns) enter(ctx context.Context, model string, req any) (*flight, *engine.Error) {
	f := &flight{turns: t, req: req}
	crashes, refused := t.look(f)
	if refused > 0 {
		return nil, refusedReply(model, refused)
	}
	if err := t.wait(ctx, model, f, crashes); err != nil {
		return nil, err
	}
	if _, refused := t.look(f); refused > 0 {
		f.leave()
		return nil, refusedReply(model, refused)
	}
	return f, nil
}

// look is that of the log, for a flight whose key is found only where one is
// remembered.
func (t *turns) look(f *flight) (crashes int, refused time.Duration) {
	if t.log.empty() {
		return 0, 0
	}
	return t.log.look(f.identify())
}

// wait takes the turns that a request needs which was running at so many
// crashes.
func (t *turns) wait(ctx context.Context, model string, f *flight, crashes int) *engine.Error {
	f.suspect, f.careful = crashes == 1, crashes > 1
	for calm := t.log.calm(); calm > 0; calm = t.log.calm() {
		if t.within(ctx, calm) {
			f.often = true
			f.takeAll(t.log.calm())
			return nil
		}
		if err := ctx.Err(); err != nil {
			return engine.AsError(err)
		}
	}
	if crashes > 0 {
		err := t.clear(ctx, model)
		if err == nil {
			f.takeAll(0)
		}
		return err
	}
	if err := t.open.Acquire(ctx, 1); err != nil {
		return engine.AsError(err)
	}
	f.held = 1
	return nil
}

// clear takes all turns for a suspect. The others wait meanwhile, but not for
// longer than longestHold without as long a time in which they do not, however
// many suspects there are.
func (t *turns) clear(ctx context.Context, model string) *engine.Error {
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if t.alone.Acquire(waiting, 1) == nil {
		defer t.alone.Release(1)
		for waiting.Err() == nil {
			if t.within(waiting, longestHold) {
				return nil
			}
			_ = pause(waiting, longestHold)
		}
	}
	if err := ctx.Err(); err != nil {
		return engine.AsError(err)
	}
	e := engine.Errorf(engine.CodeOverloaded,
		"The process of model %q ended while it worked on this request, which must run alone therefore, and others do not leave it the time to; try again later.", model)
	e.RetryAfter = int(longestHold.Seconds())
	return e
}

// within takes all turns, in its turn, and reports whether it could in the time.
// New requests wait meanwhile.
func (t *turns) within(ctx context.Context, limit time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return t.open.Acquire(ctx, allTurns) == nil
}

// takeAll notes that the flight has all turns, and for how long at most.
func (f *flight) takeAll(calm time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.held = allTurns
	f.timers = []*time.Timer{
		time.AfterFunc(calm, func() { f.end(&f.often) }),
		time.AfterFunc(longestAlone, func() { f.end(&f.suspect, &f.careful) }),
	}
}

// begun says that the model has begun to answer: what ends processes does so
// before, as a rule.
func (f *flight) begun() { f.end(&f.suspect) }

// end says that there are reasons no more for which it is alone.
func (f *flight) end(reasons ...*bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, reason := range reasons {
		*reason = false
	}
	f.share()
}

// share gives the turns of others back, where nothing speaks against it. The
// mutex is held.
func (f *flight) share() {
	if f.held > 1 && !f.suspect && !f.careful && !f.often {
		f.turns.open.Release(f.held - 1)
		f.held = 1
	}
}

// leave ends the flight.
func (f *flight) leave() {
	f.release()
	if key, ok := f.known(); ok && f.answered {
		f.turns.log.acquit(key)
	}
}

func (f *flight) release() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, timer := range f.timers {
		timer.Stop()
	}
	f.turns.open.Release(f.held)
	f.held = 0
}

// blame judges a request that was running in a process that ended; causes has
// the judgements of this end.
func (f *flight) blame(alone, proven bool, causes map[requestKey]bool) {
	key := f.identify()
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
