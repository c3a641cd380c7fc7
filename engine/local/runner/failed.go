package runner

import (
	"context"
	"iter"

	"github.com/diglot/diglot/engine"
)

type failed struct{ err *engine.Error }

// Failed returns an engine that fails all calls with err. A child serves it if its
// model cannot be loaded, to report why.
func Failed(err *engine.Error) engine.Engine { return failed{err} }

func (f failed) Models(context.Context) ([]engine.Model, error) { return nil, f.err }

func (f failed) Generate(context.Context, *engine.Request) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) { yield(nil, f.err) }
}

func (f failed) Count(context.Context, *engine.Request) (int, error) { return 0, f.err }

func (f failed) Embed(context.Context, *engine.EmbeddingRequest) (*engine.Embeddings, error) {
	return nil, f.err
}

func (f failed) GenerateImages(context.Context, *engine.ImageRequest) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) { yield(nil, f.err) }
}
