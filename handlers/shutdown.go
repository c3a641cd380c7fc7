package handlers

import (
	"context"
	"iter"

	"github.com/diglot/diglot/engine"
)

// interruptible is an engine whose requests end with an error at shutdown, whatever they
// wait for.
type interruptible struct {
	engine.Engine
	shutdown context.Context
}

var _ engine.Finder = interruptible{}

// shuttingDown is the error of an interrupted request.
func shuttingDown() *engine.Error {
	err := engine.Errorf(engine.CodeOverloaded, "The server is shutting down.")
	err.RetryAfter = 1
	return err
}

// withShutdown returns a context that ends at shutdown too.
func (e interruptible) withShutdown(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(e.shutdown, func() { cancel(shuttingDown()) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// reason returns err, or the shutdown as its reason.
func reason(ctx context.Context, err error) error {
	if cause, ok := context.Cause(ctx).(*engine.Error); ok && err != nil {
		return cause.Because(err)
	}
	return err
}

// within calls an operation with a single result.
func within[T any](ctx context.Context, e interruptible, ask func(context.Context) (T, error)) (T, error) {
	ctx, end := e.withShutdown(ctx)
	defer end()
	answer, err := ask(ctx)
	return answer, reason(ctx, err)
}

// Models implements [engine.Engine].
func (e interruptible) Models(ctx context.Context) ([]engine.Model, error) {
	return within(ctx, e, e.Engine.Models)
}

// FindModel implements [engine.Finder].
func (e interruptible) FindModel(ctx context.Context, name string) (engine.Model, error) {
	return within(ctx, e, func(ctx context.Context) (engine.Model, error) { return engine.FindModel(ctx, e.Engine, name) })
}

// Generate implements [engine.Engine].
func (e interruptible) Generate(ctx context.Context, req *engine.Request) iter.Seq2[engine.Event, error] {
	return e.events(ctx, func(ctx context.Context) iter.Seq2[engine.Event, error] { return e.Engine.Generate(ctx, req) })
}

// events calls an operation with events.
func (e interruptible) events(ctx context.Context, ask func(context.Context) iter.Seq2[engine.Event, error]) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) {
		ctx, end := e.withShutdown(ctx)
		defer end()
		for event, err := range ask(ctx) {
			if !yield(event, reason(ctx, err)) {
				return
			}
		}
	}
}

// Count implements [engine.Engine].
func (e interruptible) Count(ctx context.Context, req *engine.Request) (int, error) {
	return within(ctx, e, func(ctx context.Context) (int, error) { return e.Engine.Count(ctx, req) })
}

// Embed implements [engine.Engine].
func (e interruptible) Embed(ctx context.Context, req *engine.EmbeddingRequest) (*engine.Embeddings, error) {
	return within(ctx, e, func(ctx context.Context) (*engine.Embeddings, error) { return e.Engine.Embed(ctx, req) })
}

// GenerateImages implements [engine.Engine].
func (e interruptible) GenerateImages(ctx context.Context, req *engine.ImageRequest) iter.Seq2[engine.Event, error] {
	return e.events(ctx, func(ctx context.Context) iter.Seq2[engine.Event, error] { return e.Engine.GenerateImages(ctx, req) })
}
