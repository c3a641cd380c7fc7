package library

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/models/store"
)

// Models implements [engine.Engine]. It lists what the store has now.
func (e *Engine) Models(ctx context.Context) ([]engine.Model, error) {
	stored, err := e.config.Store.List(ctx)
	if err != nil {
		return nil, engine.AsError(err)
	}
	models := make([]engine.Model, len(stored))
	for i, m := range stored {
		models[i] = describe(m)
	}
	slices.SortFunc(models, func(a, b engine.Model) int { return strings.Compare(a.Name, b.Name) })
	e.sweep()
	return models, nil
}

// FindModel implements [engine.Finder]. A name is found in every spelling of
// it, and what is no name is an error that says why.
func (e *Engine) FindModel(_ context.Context, name string) (engine.Model, error) {
	m, err := e.find(name)
	if err != nil {
		return engine.Model{}, err
	}
	return describe(m), nil
}

func describe(m *store.Model) engine.Model {
	name := m.Name.String()
	return engine.Model{Name: name, Owner: engine.Owner(name), Changed: m.Changed, Blind: blind(m.Manifest.Layers)}
}

// blind reports whether a model has weights here and nothing that reads
// pictures. What one that is served elsewhere takes is not known.
func blind(layers []store.Layer) bool {
	has := func(mediaType string) bool {
		return slices.ContainsFunc(layers, func(l store.Layer) bool { return l.MediaType == mediaType })
	}
	return has(store.MediaTypeModel) && !has(store.MediaTypeProjector)
}

// find looks a name up in the store. The error is of type *engine.Error.
func (e *Engine) find(name string) (*store.Model, error) {
	n, err := store.ParseName(name)
	if err != nil {
		return nil, engine.Errorf(engine.CodeInvalidArgument, "%s", err).At(engine.Place{Field: engine.FieldModel})
	}
	m, err := e.config.Store.Model(n)
	switch {
	case errors.Is(err, store.ErrNotFound):
		missing := engine.ModelNotFound(name)
		missing.Message += ` "diglot list" shows the models that are here, and "diglot pull ` + n.String() + `" gets this one where its registry has it.`
		return nil, missing
	case err != nil:
		return nil, broken(n.String(), err)
	}
	return m, nil
}

// sweep lets go of residents that no name leads to any more: those of models
// that were removed, or made anew.
func (e *Engine) sweep() {
	e.mu.Lock()
	names := map[*resident][]store.Name{}
	for _, r := range e.serving {
		names[r] = slices.Clone(r.names)
	}
	e.mu.Unlock()
	for r, names := range names {
		if slices.ContainsFunc(names, func(n store.Name) bool { return e.leads(n, r) }) {
			continue
		}
		e.mu.Lock()
		if e.serving[r.digest] == r && len(r.names) == len(names) { // no further name has come
			if !r.isReady() || r.err == nil {
				e.log(r).Info("model unloaded", "reason", "it is not in the store any more")
			}
			e.leave(r)
		}
		e.mu.Unlock()
	}
}

// leads reports whether a name leads to the manifest of a resident. Where the
// store cannot be read, it is left as it is.
func (e *Engine) leads(n store.Name, r *resident) bool {
	m, err := e.config.Store.Model(n)
	if err != nil {
		return !errors.Is(err, store.ErrNotFound)
	}
	return m.Digest == r.digest
}
