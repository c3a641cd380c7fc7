package library

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/opencontainers/go-digest"

	"github.com/diglot/diglot/engine"
)

// Loaded describes a model in memory.
type Loaded struct {
	Name     string        // the first one that it was asked for by, and that leads to it still
	Others   []string      // other names of the same model that it was asked for by
	Digest   digest.Digest // of its manifest; empty: it is that of a file outside the store
	Size     int64         // bytes of memory, as planned; 0: it waits for them, or is served elsewhere
	Context  int           // tokens that one request may use; 0: not known
	Until    time.Time     // when it goes unless it is used; zero: not before its requests end, or never
	Requests int           // that use it, or wait for it
	Loading  bool          // it is not ready yet
	Stopping bool          // it takes no new requests, and goes with its last one
	Remote   string        // the URL of the server that has it; empty: it is here
}

// Loaded lists what is in memory, on its way there and on its way out, by name.
func (e *Engine) Loaded() []Loaded {
	e.sweep()
	var all []Loaded
	for r, l := range e.snapshot() {
		names := slices.DeleteFunc(l.Others, func(name string) bool { return !e.leads(name, r) }) // names move on
		l.Others = nil
		if len(names) > 0 {
			l.Name, l.Others = names[0], names[1:]
		}
		all = append(all, l)
	}
	slices.SortFunc(all, func(a, b Loaded) int { return strings.Compare(a.Name, b.Name) })
	return all
}

func (e *Engine) snapshot() map[*resident]Loaded {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := map[*resident]Loaded{}
	for _, r := range e.residents() {
		if !r.isReady() || r.err == nil {
			all[r] = e.loaded(r)
		}
	}
	return all
}

func (e *Engine) loaded(r *resident) Loaded {
	l := Loaded{
		Name:     r.name,
		Others:   slices.Clone(r.names), // the first is its name
		Digest:   r.digest,
		Size:     r.plan.Total(),
		Context:  r.plan.Context,
		Until:    r.until,
		Requests: r.users,
		Loading:  !r.isReady(),
		Stopping: e.leaving[r],
	}
	if r.stored == nil {
		l.Digest = ""
	}
	if r.isReady() && r.definition.Remote != nil {
		l.Remote = r.definition.Remote.URL
	}
	return l
}

// Permitter is an engine of a model that another server has, which can tell
// without asking it whether it may be asked.
type Permitter interface {
	// Allowed is the error that a request would fail with; nil: it may be sent.
	Allowed() error
}

// Load loads a model unless it is there, and returns when it is ready. It
// then stays as long as after a request. Errors are of type *engine.Error.
func (e *Engine) Load(ctx context.Context, name string) error {
	r, err := e.acquire(ctx, name)
	if err != nil {
		return err
	}
	defer e.release(r)
	far, ok := r.instance.(*connection)
	if !ok {
		return nil
	}
	if err := far.allowed(); err != nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.leave(r) // it is not loaded, whatever else waits for the same answer
		return engine.AsError(err)
	}
	return nil
}

// Stop lets a model go, once the requests that use it have ended, and does
// not wait for them. A model that is not loaded is an error with
// [engine.CodeModelNotFound].
func (e *Engine) Stop(_ context.Context, name string) error {
	m, err := e.find(name)
	switch {
	case err != nil && engine.AsError(err).Code == engine.CodeModelNotFound:
		return NotLoaded(name)
	case err != nil:
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, r := range e.residents() {
		if r.digest != m.digest || r.isReady() && r.err != nil {
			continue
		}
		if !e.leaving[r] {
			e.log(r).Info("model unloaded", "reason", "told to")
			e.leave(r)
		}
		return nil
	}
	return NotLoaded(name)
}

// NotLoaded is the error of a model that cannot be stopped.
func NotLoaded(name string) *engine.Error {
	return engine.Errorf(engine.CodeModelNotFound, "The model %q is not loaded.", name).At(engine.Place{Field: engine.FieldModel})
}
