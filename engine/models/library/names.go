package library

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/models/store"
)

// Models implements [engine.Engine]. It lists the files and the stored models.
func (e *Engine) Models(ctx context.Context) ([]engine.Model, error) {
	var models []engine.Model
	for _, m := range e.files {
		models = append(models, m.describe())
	}
	if e.config.Store != nil {
		stored, err := e.config.Store.List(ctx)
		if err != nil {
			return nil, engine.AsError(err)
		}
		for _, m := range stored {
			if m := ofStore(m); e.file(m.name) == nil {
				models = append(models, m.describe())
			}
		}
	}
	slices.SortFunc(models, func(a, b engine.Model) int { return strings.Compare(a.Name, b.Name) })
	e.sweep()
	return models, nil
}

// FindModel implements [engine.Finder]. It accepts all forms of a name, and fails
// for an invalid one.
func (e *Engine) FindModel(_ context.Context, name string) (engine.Model, error) {
	m, err := e.find(name)
	if err != nil {
		return engine.Model{}, err
	}
	return m.describe(), nil
}

// file returns the model of a file with this name, in any of its forms, or nil.
func (e *Engine) file(name string) *model {
	name = store.Shortest(name)
	i := slices.IndexFunc(e.files, func(m *model) bool { return engine.SameModel(store.Shortest(m.name), name) })
	if i < 0 {
		return nil
	}
	return e.files[i]
}

// find looks up a name in the files and the store. The error is of type
// *engine.Error.
func (e *Engine) find(name string) (*model, error) {
	if m := e.file(name); m != nil {
		return m, nil
	}
	if e.config.Store == nil {
		return nil, engine.ModelNotFound(name)
	}
	n, err := store.ParseName(name)
	if err != nil {
		missing := engine.ModelNotFound(name) // no model can have this name
		missing.Message = err.Error()
		return nil, missing
	}
	m, err := e.config.Store.Model(n)
	switch {
	case errors.Is(err, store.ErrNotFound):
		missing := engine.ModelNotFound(name)
		missing.Message += ` "diglot list" shows the models that are here, and "diglot pull ` + n.String() + `" gets this one where its registry has it.`
		return nil, missing
	case err != nil:
		return nil, e.broken(n.String(), err)
	}
	return ofStore(m), nil
}

// sweep unloads residents to which no name refers any more, because their models
// were removed or replaced.
func (e *Engine) sweep() {
	e.mu.Lock()
	names := map[*resident][]string{}
	for _, r := range e.serving {
		names[r] = slices.Clone(r.names)
	}
	e.mu.Unlock()
	for r, names := range names {
		if slices.ContainsFunc(names, func(n string) bool { return e.leads(n, r) }) {
			continue
		}
		e.mu.Lock()
		if e.serving[r.digest] == r && len(r.names) == len(names) { // no name was added meanwhile
			if !r.isReady() || r.err == nil {
				e.log(r).Info("model unloaded", "reason", "removed from the store")
			}
			e.leave(r)
		}
		e.mu.Unlock()
	}
}

// leads reports whether a name refers to the manifest of a resident, which it
// assumes if the store cannot be read.
func (e *Engine) leads(name string, r *resident) bool {
	m, err := e.find(name)
	if err != nil {
		return engine.AsError(err).Code != engine.CodeModelNotFound
	}
	return m.digest == r.digest
}
