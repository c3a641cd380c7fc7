package engine

import (
	"context"
	"iter"
	"path"
	"time"
)

// Engine serves requests that have passed [Request.Check]; [Checked] makes
// sure of that. Implementations are safe for concurrent use. All errors are of
// type *Error.
type Engine interface {
	// Models lists the models that are served, sorted by name.
	Models(ctx context.Context) ([]Model, error)

	// Generate answers req with events that follow the grammar in the package
	// comment. Ending the iteration early or canceling ctx frees the request's
	// resources within one decode step. Until then the caller must not touch req.
	Generate(ctx context.Context, req *Request) iter.Seq2[Event, error]

	// Count returns the number of prompt tokens that Generate would report for
	// req, without generating.
	Count(ctx context.Context, req *Request) (int, error)

	// Embed computes embeddings.
	Embed(ctx context.Context, req *EmbeddingRequest) (*Embeddings, error)

	// GenerateImages generates req.Choices images, one after the other: perhaps a
	// Start, then (Preview* Drawn) for each. A model that cannot is an error with
	// [CodeModelNotFound]. Ending the iteration early or canceling ctx ends the work
	// within one step.
	GenerateImages(ctx context.Context, req *ImageRequest) iter.Seq2[Event, error]
}

// Model describes one model that an Engine serves.
type Model struct {
	Name     string
	Owner    string    // default: see [Owner]
	Changed  time.Time // last modification; zero: unknown
	Context  int       // context length of one request in tokens; 0: unknown
	TextOnly bool      // known not to accept images
	Draws    bool      // known to draw images
}

// Owner returns the owner in a model's name: org of hf.co/org/model:tag, or
// "library" if there is none, as the OpenAI-style interface document says of
// owned_by.
func Owner(model string) string {
	owner := path.Base(path.Dir(model))
	if owner == "." || owner == "/" {
		return "library"
	}
	return owner
}

// Finder is an [Engine] that looks up a model without listing all of them. It
// may accept names that are not listed, or explain why a name is wrong.
type Finder interface {
	Engine

	// FindModel returns the model called name. [CodeModelNotFound] means that
	// there is none; any other error means that the lookup failed.
	FindModel(ctx context.Context, name string) (Model, error)
}

// FindModel returns the model called name; name:latest means the same as name.
func FindModel(ctx context.Context, e Engine, name string) (Model, error) {
	if f, ok := e.(Finder); ok {
		return f.FindModel(ctx, name)
	}
	models, err := e.Models(ctx)
	if err != nil {
		return Model{}, err
	}
	for _, m := range models {
		if SameModel(m.Name, name) {
			return m, nil
		}
	}
	return Model{}, ModelNotFound(name)
}
