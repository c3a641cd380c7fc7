package library

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/opencontainers/go-digest"

	"github.com/diglot/diglot/engine"
)

// Loaded describes a loaded model.
type Loaded struct {
	Name     string        // the first name that requests used and that still refers to it
	Others   []string      // other names that requests used
	Digest   digest.Digest // of its manifest; empty: a file outside the store
	Size     int64         // planned memory in bytes; 0: waiting for it, or remote
	Context  int           // tokens per request; 0: unknown
	Until    time.Time     // when it is unloaded if idle; zero: in use, or never
	Requests int           // running and waiting
	Loading  bool          // not ready yet
	Stopping bool          // accepts no new requests, and is unloaded with the last one
	Remote   string        // URL of a remote model's server

	// Step is the last finished step of the image that is being drawn, Of how many
	// it has; 0: none is.
	Step, Of int
}

// Drawer is an [Instance] that knows how far its image is.
type Drawer interface {
	Step(name string) (step, of int)
}

// Loaded lists the models that are loading, loaded or leaving, by name.
func (e *Engine) Loaded() []Loaded {
	e.sweep()
	var all []Loaded
	for r, l := range e.snapshot() {
		names := slices.DeleteFunc(l.Others, func(name string) bool { return !e.leads(name, r) }) // a name may refer to another model by now
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
	if d, ok := r.instance.(Drawer); ok && r.isReady() {
		l.Step, l.Of = d.Step(r.name)
	}
	if r.isReady() && r.definition.Remote != nil {
		l.Remote = r.definition.Remote.URL
	}
	return l
}

// Permitter is an engine of a remote model that knows whether its server is
// allowed.
type Permitter interface {
	// Allowed returns the error of a request to a server that is not allowed.
	Allowed() error
}

// Load loads a model unless it is loaded, and returns when it is ready. The
// keep-alive starts as after a request. Errors are of type *engine.Error.
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
		e.leave(r) // not loaded, even if other requests wait for it
		return engine.AsError(err)
	}
	return nil
}

// Stop unloads a model when its requests have finished, without waiting for them.
// For a model that is not loaded it fails with [engine.CodeModelNotFound].
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
			e.log(r).Info("model unloaded", "reason", "command")
			e.leave(r)
		}
		return nil
	}
	return NotLoaded(name)
}

// NotLoaded is the error for a model that is not loaded.
func NotLoaded(name string) *engine.Error {
	return engine.Errorf(engine.CodeModelNotFound, "The model %q is not loaded.", name).At(engine.Place{Field: engine.FieldModel})
}
