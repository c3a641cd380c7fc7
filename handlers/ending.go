package handlers

import (
	"context"
	"iter"

	"github.com/diglot/diglot/engine"
)

// ending is an engine whose requests end with an error when the server's time is
// over, whatever they wait for: a model here or elsewhere, a picture, a script.
type ending struct {
	engine.Engine
	over context.Context
}

var _ engine.Finder = ending{}

// ended is what is told to the client of a request that was cut off.
func ended() *engine.Error {
	err := engine.Errorf(engine.CodeOverloaded, "The server is shutting down.")
	err.RetryAfter = 1
	return err
}

// limited is ctx, which ends with the server's time as well.
func (e ending) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(e.over, func() { cancel(ended()) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// reason is err, or why ctx has ended where that is the end of the server's time.
func reason(ctx context.Context, err error) error {
	if over, ok := context.Cause(ctx).(*engine.Error); ok && err != nil {
		return over.Because(err)
	}
	return err
}

// within asks something that has one answer.
func within[T any](ctx context.Context, e ending, ask func(context.Context) (T, error)) (T, error) {
	ctx, end := e.limited(ctx)
	defer end()
	answer, err := ask(ctx)
	return answer, reason(ctx, err)
}

// Models implements [engine.Engine].
func (e ending) Models(ctx context.Context) ([]engine.Model, error) {
	return within(ctx, e, e.Engine.Models)
}

// FindModel implements [engine.Finder].
func (e ending) FindModel(ctx context.Context, name string) (engine.Model, error) {
	return within(ctx, e, func(ctx context.Context) (engine.Model, error) { return engine.FindModel(ctx, e.Engine, name) })
}

// Generate implements [engine.Engine].
func (e ending) Generate(ctx context.Context, req *engine.Request) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) {
		ctx, end := e.limited(ctx)
		defer end()
		for event, err := range e.Engine.Generate(ctx, req) {
			if !yield(event, reason(ctx, err)) {
				return
			}
		}
	}
}

// Count implements [engine.Engine].
func (e ending) Count(ctx context.Context, req *engine.Request) (int, error) {
	return within(ctx, e, func(ctx context.Context) (int, error) { return e.Engine.Count(ctx, req) })
}

// Embed implements [engine.Engine].
func (e ending) Embed(ctx context.Context, req *engine.EmbeddingRequest) (*engine.Embeddings, error) {
	return within(ctx, e, func(ctx context.Context) (*engine.Embeddings, error) { return e.Engine.Embed(ctx, req) })
}

// GenerateImages implements [engine.Engine].
func (e ending) GenerateImages(ctx context.Context, req *engine.ImageRequest) ([]engine.Image, error) {
	return within(ctx, e, func(ctx context.Context) ([]engine.Image, error) { return e.Engine.GenerateImages(ctx, req) })
}
