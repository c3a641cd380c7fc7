package runner

import (
	"context"
	"iter"

	"github.com/diglot/diglot/engine"
)

type failed struct{ err *engine.Error }

// Failed is an engine that answers everything with err: what a child serves
// whose model cannot be loaded, so that the parent hears why.
func Failed(err *engine.Error) engine.Engine { return failed{err} }

func (f failed) Models(context.Context) ([]engine.Model, error) { return nil, f.err }

func (f failed) Generate(context.Context, *engine.Request) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) { yield(nil, f.err) }
}

func (f failed) Count(context.Context, *engine.Request) (int, error) { return 0, f.err }

func (f failed) Embed(context.Context, *engine.EmbeddingRequest) (*engine.Embeddings, error) {
	return nil, f.err
}

func (f failed) GenerateImages(context.Context, *engine.ImageRequest) ([]engine.Image, error) {
	return nil, f.err
}
