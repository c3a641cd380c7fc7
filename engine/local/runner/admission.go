package runner

import (
	"context"
	"hash/maphash"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/diglot/diglot/engine"
)

// allPermits is more than the requests that may run concurrently.
const allPermits = 1 << 30

const (
	// maxHold is how long requests wait because a suspect waits to run alone, and
	// how long they then go first.
	maxHold = 10 * time.Second

	// maxSuspectWait is how long a suspect waits to run alone.
	maxSuspectWait = time.Minute

	// maxAlone is how long a suspect runs alone. A later crash counts as one of
	// several requests; see maxSuspected.
	maxAlone = 5 * time.Minute
)

// admission lets requests to a model run concurrently or alone.
type admission struct {
	log     crashLog
	seed    maphash.Seed        // of the keys of requests
	permits *semaphore.Weighted // first come, first served
	alone   *semaphore.Weighted // held by the suspect that waits for all permits
}

func newAdmission() *admission {
	return &admission{seed: maphash.MakeSeed(), permits: semaphore.NewWeighted(allPermits), alone: semaphore.NewWeighted(1)}
}

// job is a request from its admission to its end.
type job struct {
	admission *admission
	answered  bool // completely, or with an error

	mu      sync.Mutex
	permits int64 // held

	// Why it runs alone, if any of these is set.
	untilOutput bool // a suspect of one crash, until its first output
	untilEnd    bool // a suspect of several
	crashLoop   bool // until the crash loop is over
	timers      []*time.Timer

	req   any // nil once keyed
	key   requestKey
	keyed bool
	cause bool // of a crash
}

// identify returns the key of the request, and drops the request, which may hold
// images.
func (f *job) identify() requestKey {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.keyed {
		f.key, f.keyed, f.req = keyOf(f.admission.seed, f.req), true, nil
	}
	return f.key
}

// knownKey returns the key if it was computed before.
func (f *job) knownKey() (requestKey, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.key, f.keyed
}

// enter waits until req may run. A suspect waits to run alone. The cause of a crash
// is refused, also if an equal request caused one in the meantime.
func (t *admission) enter(ctx context.Context, model string, req any) (*job, *engine.Error) {
	f := &job{admission: t, req: req}
	crashes, refused := t.lookup(f)
	if refused > 0 {
		return nil, refusedError(model, refused)
	}
	if err := t.acquire(ctx, model, f, crashes); err != nil {
		return nil, err
	}
	if _, refused := t.lookup(f); refused > 0 {
		f.finish()
		return nil, refusedError(model, refused)
	}
	return f, nil
}

// lookup looks the job up in the log. It computes no key if the log is empty.
func (t *admission) lookup(f *job) (crashes int, refused time.Duration) {
	if t.log.empty() {
		return 0, 0
	}
	return t.log.lookup(f.identify())
}

// acquire acquires the permits for a suspect of so many crashes.
func (t *admission) acquire(ctx context.Context, model string, f *job, crashes int) *engine.Error {
	f.untilOutput, f.untilEnd = crashes == 1, crashes > 1
	for calm := t.log.crashLoop(); calm > 0; calm = t.log.crashLoop() {
		if t.acquireAll(ctx, calm) {
			f.crashLoop = true
			f.holdAll(t.log.crashLoop())
			return nil
		}
		if err := ctx.Err(); err != nil {
			return engine.AsError(err)
		}
	}
	if crashes > 0 {
		err := t.acquireAlone(ctx, model)
		if err == nil {
			f.holdAll(0)
		}
		return err
	}
	if err := t.permits.Acquire(ctx, 1); err != nil {
		return engine.AsError(err)
	}
	f.permits = 1
	return nil
}

// acquireAlone acquires all permits for a suspect. New requests wait meanwhile, for
// maxHold at most, and then go first for as long, however many suspects there are.
func (t *admission) acquireAlone(ctx context.Context, model string) *engine.Error {
	waiting, cancel := context.WithTimeout(ctx, maxSuspectWait)
	defer cancel()
	if t.alone.Acquire(waiting, 1) == nil {
		defer t.alone.Release(1)
		for waiting.Err() == nil {
			if t.acquireAll(waiting, maxHold) {
				return nil
			}
			_ = pause(waiting, maxHold)
		}
	}
	if err := ctx.Err(); err != nil {
		return engine.AsError(err)
	}
	e := engine.Errorf(engine.CodeOverloaded,
		"The process of model %q crashed during this request, which must therefore run alone, but other requests are running; try again later.", model)
	e.RetryAfter = int(maxHold.Seconds())
	return e
}

// acquireAll acquires all permits within limit. New requests wait meanwhile.
func (t *admission) acquireAll(ctx context.Context, limit time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return t.permits.Acquire(ctx, allPermits) == nil
}

// holdAll records that the job holds all permits, and limits for how long.
func (f *job) holdAll(calm time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.permits = allPermits
	f.timers = []*time.Timer{
		time.AfterFunc(calm, func() { f.lift(&f.crashLoop) }),
		time.AfterFunc(maxAlone, func() { f.lift(&f.untilOutput, &f.untilEnd) }),
	}
}

// outputBegan is called at the first output: most crashes happen before.
func (f *job) outputBegan() { f.lift(&f.untilOutput) }

// lift removes reasons to run alone.
func (f *job) lift(reasons ...*bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, reason := range reasons {
		*reason = false
	}
	f.shrink()
}

// shrink releases all permits but one if no reason to run alone is left. The mutex
// is held.
func (f *job) shrink() {
	if f.permits > 1 && !f.untilOutput && !f.untilEnd && !f.crashLoop {
		f.admission.permits.Release(f.permits - 1)
		f.permits = 1
	}
}

// finish releases the permits. A job that was answered is cleared of suspicion.
func (f *job) finish() {
	f.release()
	if key, ok := f.knownKey(); ok && f.answered {
		f.admission.log.clear(key)
	}
}

func (f *job) release() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, timer := range f.timers {
		timer.Stop()
	}
	f.admission.permits.Release(f.permits)
	f.permits = 0
}

// blame records that the job was running in a process that exited. causes has the
// results for equal requests of the same crash.
func (f *job) blame(alone, proven bool, causes map[requestKey]bool) {
	key := f.identify()
	cause, judged := causes[key]
	if !judged {
		cause = f.admission.log.record(key, alone, proven)
		causes[key] = cause
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cause = f.cause || cause
}

// isCause reports whether the job caused a crash.
func (f *job) isCause() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.cause
}

// arrivalKey is the context key of the function to call once a call is delivered.
type arrivalKey struct{}

func onArrival(ctx context.Context, f func()) context.Context {
	return context.WithValue(ctx, arrivalKey{}, f)
}

// arrived is called once the process has the call.
func arrived(ctx context.Context) {
	if f, ok := ctx.Value(arrivalKey{}).(func()); ok {
		f()
	}
}

// refusedError is the error of a request that caused a crash before.
func refusedError(model string, wait time.Duration) *engine.Error {
	e := engine.Errorf(engine.CodeEngineCrashed,
		"This request crashed the process of model %q before and is refused for %s.", model, wait.Round(time.Second))
	e.NoRetry = true
	return e
}
