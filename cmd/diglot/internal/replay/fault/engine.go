package fault

import (
	"context"
	"fmt"
	"iter"

	"github.com/diglot/diglot/engine"
)

// Engine returns e with the faults that requests carry in their contexts: slowness and
// errors, which each style tells in its own way.
func Engine(e engine.Finder) engine.Finder { return failing{e} }

type failing struct{ engine.Finder }

// before waits and fails as a reply does that has no events.
func before(ctx context.Context) error {
	f := From(ctx)
	if f.Slow > 0 {
		Wait(ctx, f.Slow)
	}
	if err := ctx.Err(); err != nil {
		return engine.AsError(err)
	}
	if f.Error != nil {
		return f.Error.error()
	}
	return nil
}

func (e *Error) error() *engine.Error {
	return engine.Errorf(e.Code, "%s", fmt.Sprintf("This error was asked for: %s.", e.Code))
}

// Generate implements [engine.Engine].
func (e failing) Generate(ctx context.Context, req *engine.Request) iter.Seq2[engine.Event, error] {
	f := From(ctx)
	if !f.Made() {
		return e.Finder.Generate(ctx, req)
	}
	return func(yield func(engine.Event, error) bool) {
		deltas, open := 0, max(1, req.Choices)
		for event, err := range e.Finder.Generate(ctx, req) {
			if _, finish := event.(engine.Finish); finish {
				open--
			}
			if err == nil && f.Error != nil && isContent(event) && (deltas >= f.Error.After || open == 0) {
				yield(nil, f.Error.error())
				return
			}
			if isDelta(event) {
				deltas++
			}
			if !yield(event, err) {
				return
			}
			if _, started := event.(engine.Start); started && f.Slow > 0 {
				Wait(ctx, f.Slow)
			}
		}
	}
}

// isContent reports whether an event is part of an answer or behind it.
func isContent(event engine.Event) bool {
	_, start := event.(engine.Start)
	return !start
}

func isDelta(event engine.Event) bool {
	switch event.(type) {
	case engine.TextDelta, engine.ReasoningDelta, engine.ToolCallDelta:
		return true
	}
	return false
}

// Count implements [engine.Engine].
func (e failing) Count(ctx context.Context, req *engine.Request) (int, error) {
	if err := before(ctx); err != nil {
		return 0, err
	}
	return e.Finder.Count(ctx, req)
}

// Embed implements [engine.Engine].
func (e failing) Embed(ctx context.Context, req *engine.EmbeddingRequest) (*engine.Embeddings, error) {
	if err := before(ctx); err != nil {
		return nil, err
	}
	return e.Finder.Embed(ctx, req)
}

// GenerateImages implements [engine.Engine].
func (e failing) GenerateImages(ctx context.Context, req *engine.ImageRequest) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) {
		if err := before(ctx); err != nil {
			yield(nil, err)
			return
		}
		e.Finder.GenerateImages(ctx, req)(yield)
	}
}

// Models implements [engine.Engine].
func (e failing) Models(ctx context.Context) ([]engine.Model, error) {
	if err := before(ctx); err != nil {
		return nil, err
	}
	return e.Finder.Models(ctx)
}

// FindModel implements [engine.Finder].
func (e failing) FindModel(ctx context.Context, name string) (engine.Model, error) {
	if err := before(ctx); err != nil {
		return engine.Model{}, err
	}
	return e.Finder.FindModel(ctx, name)
}
