package engine

import (
	"context"
	"iter"
	"path"
	"time"
)

// Engine answers requests that have passed [Request.Check], which [Checked]
// sees to. Implementations are safe for concurrent use. What a model cannot do
// is an [Error] that says so. Errors are of type *Error.
type Engine interface {
	// Models lists what can be asked for, sorted by name.
	Models(ctx context.Context) ([]Model, error)

	// Generate answers req. The sequence follows the grammar in the package
	// comment. Ending the iteration early, or canceling ctx, frees what the
	// request holds within one decode step. While it runs, req belongs to it
	// alone.
	Generate(ctx context.Context, req *Request) iter.Seq2[Event, error]

	// Count says how many tokens the prompt of req has: what Generate would
	// report as PromptTokens. Nothing is generated.
	Count(ctx context.Context, req *Request) (int, error)

	// Embed turns texts into vectors.
	Embed(ctx context.Context, req *EmbeddingRequest) (*Embeddings, error)

	// GenerateImages draws req.Choices pictures, each with Data and MediaType.
	// A model that draws none is an error with [CodeModelNotFound].
	GenerateImages(ctx context.Context, req *ImageRequest) ([]Image, error)
}

// Model describes one model that an Engine serves.
type Model struct {
	Name    string
	Owner   string    // as [Owner] says, where nobody else is known
	Changed time.Time // last change of what it is made of; zero: unknown
	Context int       // tokens that one request may use, prompt and answer; 0: unknown
	Blind   bool      // it is known to take no images
}

// Owner is whom the name of a model belongs to: org of hf.co/org/model:tag, and
// "library" where the name holds none, as the interface document of the OpenAI
// style says of owned_by.
func Owner(model string) string {
	owner := path.Base(path.Dir(model))
	if owner == "." || owner == "/" {
		return "library"
	}
	return owner
}

// Finder is an [Engine] that finds a model by name without listing all of
// them, and that may know more names, or more about a wrong one, than a list
// says.
type Finder interface {
	Engine

	// FindModel returns the model called name. An error with
	// [CodeModelNotFound] says that there is none; any other one says that
	// name cannot be answered for.
	FindModel(ctx context.Context, name string) (Model, error)
}

// FindModel returns the model called name; name:latest is the same as name.
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
