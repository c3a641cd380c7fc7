package library

import (
	"context"
	"slices"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/local/memory"
	"github.com/diglot/diglot/engine/models/modelfile"
)

// failureMemory is how long requests are answered with the error of the last
// load before another one is tried: a client that asks again at once must not
// keep the machine busy with a file that cannot be loaded.
const failureMemory = 5 * time.Second

// resident is a model in memory, or on its way there or out. The engine's
// mutex guards what is not said to be fixed.
type resident struct {
	*model          // by the name that it was first asked for by; fixed
	names  []string // all that it was asked for by

	ready      chan struct{} // closed when loading is over; the next four are fixed then
	err        *engine.Error // why there is no instance
	failed     time.Time     // when that was found out
	instance   Instance      // nil: none
	definition *modelfile.Definition

	plan  memory.Plan // what it takes; zero before it was given room
	begun time.Time   // when it was given that
	stays time.Time   // until when it does not make way while it is used
	users int         // requests that hold it, or wait for it
	used  time.Time   // when a request last came or went
	until time.Time   // when it leaves unless it is used; zero: not for lack of use
	timer *time.Timer // for that time
	ended bool        // the instance is being closed, or was
}

// isReady reports whether loading is over, with or without success.
func (r *resident) isReady() bool {
	select {
	case <-r.ready:
		return true
	default:
		return false
	}
}

// over reports whether another load may take the place of one that failed.
func (r *resident) over() bool {
	return r.isReady() && r.err != nil && time.Since(r.failed) >= failureMemory
}

// residents are all that have memory, or will. The mutex is held.
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

// acquire returns the resident for a name once it is ready. It stays until it
// is released. The error is of type *engine.Error.
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
		// What was made anew since the name was looked up has lost its files.
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

// await returns the resident of a manifest once it is ready.
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

// join makes a request a user of the resident of its model. Where there is
// none, loading begins; it is not bound to the request, since others may come
// to wait for it.
func (e *Engine) join(m *model) (*resident, *engine.Error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, shutDown()
	}
	r := e.serving[m.digest]
	fresh := r == nil || r.over()
	if (fresh || !r.isReady()) && e.waiting >= e.config.Queue {
		full := engine.Errorf(engine.CodeOverloaded, "Too many requests wait for models to be loaded.")
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

// arrived notes that a request does not wait any more.
func (e *Engine) arrived() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.waiting--
}

// release ends what acquire began.
func (e *Engine) release(r *resident) {
	e.mu.Lock()
	defer e.mu.Unlock()
	r.users--
	r.used = time.Now()
	if r.users == 0 {
		e.rest(r)
	}
}

// rest decides what becomes of a resident that nobody uses. The mutex is held.
func (e *Engine) rest(r *resident) {
	e.signal() // a load that waits may take its memory, or is not wanted any more
	switch {
	case r.ended: // with its requests, as the engine was closed
	case !r.isReady(): // decided when it is
	case e.leaving[r]:
		e.end(r)
	case r.err == nil && e.config.KeepAlive > 0:
		r.until = time.Now().Add(e.config.KeepAlive)
		r.timer = time.AfterFunc(e.config.KeepAlive, func() { e.expire(r) })
	}
}

// expire lets a resident go whose time has come.
func (e *Engine) expire(r *resident) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if r.users > 0 || r.until.IsZero() || time.Now().Before(r.until) {
		return // used since the timer fired
	}
	e.log(r).Info("model unloaded", "reason", "nobody uses it")
	e.leave(r)
}

// leave lets a resident take no new requests, and ends it when it has none.
// The mutex is held.
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

// end closes the instance of a resident that is leaving. Where it is still
// loading, that is done when it has. The mutex is held.
func (e *Engine) end(r *resident) {
	if r.ended || !r.isReady() {
		return
	}
	r.ended = true
	e.tasks.Go(func() {
		if r.instance != nil {
			if err := r.instance.Close(); err != nil {
				e.log(r).Warn("model did not end well", "err", err)
			}
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.leaving, r)
		e.signal()
	})
}
