package engine

import (
	"context"
	"iter"
	"slices"
	"strings"
)

// Mux combines several engines: each request goes to the first one that has
// its model.
type Mux []Engine

var _ Finder = Mux(nil)

// Models implements [Engine]. A name that several engines have is listed once.
func (m Mux) Models(ctx context.Context) ([]Model, error) {
	var all []Model
	listed := map[string]bool{}
	for _, e := range m {
		models, err := e.Models(ctx)
		if err != nil {
			return nil, err
		}
		for _, model := range models {
			if name := shortName(model.Name); !listed[name] {
				listed[name] = true
				all = append(all, model)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Model) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// Generate implements [Engine].
func (m Mux) Generate(ctx context.Context, req *Request) iter.Seq2[Event, error] {
	e, err := m.find(ctx, req.Model)
	if err != nil {
		return failure(AsError(err))
	}
	return e.Generate(ctx, req)
}

// Count implements [Engine].
func (m Mux) Count(ctx context.Context, req *Request) (int, error) {
	e, err := m.find(ctx, req.Model)
	if err != nil {
		return 0, err
	}
	return e.Count(ctx, req)
}

// Embed implements [Engine].
func (m Mux) Embed(ctx context.Context, req *EmbeddingRequest) (*Embeddings, error) {
	e, err := m.find(ctx, req.Model)
	if err != nil {
		return nil, err
	}
	return e.Embed(ctx, req)
}

// GenerateImages implements [Engine].
func (m Mux) GenerateImages(ctx context.Context, req *ImageRequest) iter.Seq2[Event, error] {
	e, err := m.find(ctx, req.Model)
	if err != nil {
		return failure(AsError(err))
	}
	return e.GenerateImages(ctx, req)
}

// FindModel implements [Finder].
func (m Mux) FindModel(ctx context.Context, name string) (Model, error) {
	_, model, err := m.search(ctx, name)
	return model, err
}

// find returns the engine that has the model.
func (m Mux) find(ctx context.Context, name string) (Engine, error) {
	e, _, err := m.search(ctx, name)
	return e, err
}

// search asks the engines in order. If none has the model, it returns the last
// one's error, which may say what to do about it.
func (m Mux) search(ctx context.Context, name string) (Engine, Model, error) {
	var missing error = ModelNotFound(name)
	for _, e := range m {
		model, err := FindModel(ctx, e, name)
		if err == nil {
			return e, model, nil
		}
		if missing = err; AsError(err).Code != CodeModelNotFound {
			break
		}
	}
	return nil, Model{}, missing
}

func failure(err *Error) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) { yield(nil, err) }
}

// SameModel reports whether two names mean the same model, as "name" and
// "name:latest" do.
func SameModel(a, b string) bool {
	return shortName(a) == shortName(b)
}

func shortName(name string) string { return strings.TrimSuffix(name, ":latest") }

// ModelNotFound is the error of a request for a model that is not served.
func ModelNotFound(name string) *Error {
	return Errorf(CodeModelNotFound, "The model %q does not exist.", name).At(Place{Field: FieldModel})
}
