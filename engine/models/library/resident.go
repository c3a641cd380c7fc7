package library

import (
	"context"
	"slices"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/local/memory"
	"github.com/diglot/diglot/engine/models/modelfile"
)

// failureMemory is how long requests get the error of a failed load before it is
// tried again, so that retrying clients do not keep the machine busy.
const failureMemory = 5 * time.Second

// resident is a model that is loading, loaded or leaving. The engine's mutex guards
// all fields that are not immutable.
type resident struct {
	*model          // with the first name that was used; immutable
	names  []string // all names that were used

	ready      chan struct{} // closed when loading is over; the next four are immutable then
	err        *engine.Error // of a failed load
	failed     time.Time     // when loading was over
	instance   Instance      // nil: none
	definition *modelfile.Definition

	plan  memory.Plan // reserved memory; zero before admission
	begun time.Time   // when it was admitted
	stays time.Time   // until when it is not evicted while in use
	users int         // requests that use it or wait for it
	used  time.Time   // when a request last started or finished
	until time.Time   // when the keep-alive ends; zero: in use, or never
	timer *time.Timer // for until
	ended bool        // the instance is being closed, or is closed
}

// isReady reports whether loading is over, successful or not.
func (r *resident) isReady() bool {
	select {
	case <-r.ready:
		return true
	default:
		return false
	}
}

// memoryUsed is how much of its plan the resident uses already: nothing before it is
// loaded, all of it if the instance does not know.
func (r *resident) memoryUsed() int64 {
	if !r.isReady() {
		return 0
	}
	if m, ok := r.instance.(Measured); ok {
		if used, known := m.MemoryUsed(); known {
			return used
		}
	}
	return r.plan.Total()
}

// over reports whether a failed load may be tried again.
func (r *resident) over() bool {
	return r.isReady() && r.err != nil && time.Since(r.failed) >= failureMemory
}

// residents returns all residents. The caller holds the mutex.
func (e *Engine) residents() []*resident {
	var all []*resident
	for _, r := range e.serving {
		all = append(all, r)
	}
	for r := range e.leaving {
		all = append(all, r)
	}
	return all
}

// acquire returns the resident for a name when it is ready. It stays loaded until
// release. The error is of type *engine.Error.
func (e *Engine) acquire(ctx context.Context, name string) (*resident, error) {
	m, err := e.find(name)
	if err != nil {
		return nil, err
	}
	e.sweep()
	for {
		r, failure := e.await(ctx, m)
		if failure == nil {
			return r, nil
		}
		// The model may have been replaced, and its blobs removed, since find.
		latest, err := e.find(name)
		switch {
		case err != nil && ctx.Err() == nil:
			return nil, err
		case err != nil || latest.digest == m.digest:
			return nil, failure
		}
		m = latest
	}
}

// await returns the resident of a manifest when it is ready.
func (e *Engine) await(ctx context.Context, m *model) (*resident, *engine.Error) {
	r, full := e.join(m)
	if full != nil {
		return nil, full
	}
	defer e.arrived()
	select {
	case <-r.ready:
	case <-ctx.Done():
		e.release(r)
		return nil, engine.AsError(ctx.Err())
	}
	if r.err != nil {
		e.release(r)
		return nil, r.err
	}
	return r, nil
}

// join adds a request to the resident of its model, and starts loading if there is
// none. Loading does not end with the request, because others may join.
func (e *Engine) join(m *model) (*resident, *engine.Error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, shutDown()
	}
	r := e.serving[m.digest]
	fresh := r == nil || r.over()
	if (fresh || !r.isReady()) && e.waiting >= e.config.Queue {
		full := engine.Errorf(engine.CodeOverloaded, "Too many requests are waiting for models to load.")
		full.RetryAfter = 5
		return nil, full
	}
	if fresh {
		r = &resident{model: m, ready: make(chan struct{})}
		e.serving[m.digest] = r
		e.tasks.Go(func() { e.load(r, m) })
	}
	if !slices.Contains(r.names, m.name) {
		r.names = append(r.names, m.name)
	}
	e.waiting++
	r.users++
	r.used, r.until = time.Now(), time.Time{}
	if r.timer != nil {
		r.timer.Stop()
	}
	return r, nil
}

// arrived ends the wait of a request.
func (e *Engine) arrived() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.waiting--
}

// release releases a resident after acquire.
func (e *Engine) release(r *resident) {
	e.mu.Lock()
	defer e.mu.Unlock()
	r.users--
	r.used = time.Now()
	if r.users == 0 {
		e.rest(r)
	}
}

// rest handles a resident that became idle. The caller holds the mutex.
func (e *Engine) rest(r *resident) {
	e.signal() // a waiting load may evict it, or is itself no longer wanted
	switch {
	case r.ended: // the engine was closed
	case !r.isReady(): // load calls rest again
	case e.leaving[r]:
		e.end(r)
	case r.err == nil && e.config.KeepAlive > 0:
		r.until = time.Now().Add(e.config.KeepAlive)
		r.timer = time.AfterFunc(e.config.KeepAlive, func() { e.expire(r) })
	}
}

// expire unloads a resident at the end of its keep-alive.
func (e *Engine) expire(r *resident) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if r.users > 0 || r.until.IsZero() || time.Now().Before(r.until) {
		return // used since the timer fired
	}
	e.log(r).Info("model unloaded", "reason", "idle")
	e.leave(r)
}

// leave makes a resident accept no new requests, and unloads it when it has none.
// The caller holds the mutex.
func (e *Engine) leave(r *resident) {
	if e.serving[r.digest] == r {
		delete(e.serving, r.digest)
	}
	if r.ended {
		return
	}
	if r.timer != nil {
		r.timer.Stop()
	}
	r.until = time.Time{}
	e.leaving[r] = true
	if r.users == 0 && r.isReady() {
		e.end(r)
	}
}

// end closes the instance of a leaving resident. If it is still loading, load does
// so later. The caller holds the mutex.
func (e *Engine) end(r *resident) {
	if r.ended || !r.isReady() {
		return
	}
	r.ended = true
	e.tasks.Go(func() {
		if r.instance != nil {
			if err := r.instance.Close(); err != nil {
				e.log(r).Warn("closing a model failed", "err", err)
			}
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.leaving, r)
		e.signal()
	})
}
