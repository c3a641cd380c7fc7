package chat

import (
	"cmp"
	"context"
	"iter"

	"github.com/diglot/diglot/engine"
)

// Models lists the one model.
func (e *Engine) Models(context.Context) ([]engine.Model, error) {
	return []engine.Model{{
		Name:     e.info.Name,
		Owner:    cmp.Or(e.info.Owner, engine.Owner(e.info.Name)),
		Changed:  e.info.Changed,
		Context:  e.info.Context,
		TextOnly: !e.info.Vision,
	}}, nil
}

// Count implements [engine.Engine].
func (e *Engine) Count(ctx context.Context, req *engine.Request) (int, error) {
	p, err := e.prepare(ctx, req)
	if err != nil {
		return 0, err
	}
	defer p.close()
	return len(p.prompt), nil
}

// GenerateImages implements [engine.Engine].
func (e *Engine) GenerateImages(_ context.Context, req *engine.ImageRequest) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) {
		yield(nil, engine.Errorf(engine.CodeModelNotFound, "The model %s draws no images.", req.Model).
			At(engine.Place{Field: engine.FieldModel}))
	}
}

// Generate answers req. See [engine.Engine].
func (e *Engine) Generate(ctx context.Context, req *engine.Request) iter.Seq2[engine.Event, error] {
	return func(yield func(engine.Event, error) bool) {
		p, err := e.prepare(ctx, req)
		if err != nil {
			yield(nil, engine.AsError(err))
			return
		}
		defer p.close()
		if !yield(p.start, nil) {
			return
		}
		tallies, err := e.answers(ctx, p, func(event engine.Event) bool { return yield(event, nil) })
		switch err {
		case nil:
			yield(engine.Done{Usage: usage(len(p.prompt), tallies)}, nil)
		case errStopped:
		default:
			yield(nil, engine.AsError(err))
		}
	}
}

// answers generates the choices of a request and returns the usage of each,
// those included that best_of discards. emit returns false once the consumer has
// stopped.
func (e *Engine) answers(ctx context.Context, p *plan, emit func(engine.Event) bool) ([]tally, error) {
	scored, err := e.score(ctx, p)
	if err != nil {
		return nil, err
	}
	var tallies []tally
	switch {
	case p.choices > p.wanted:
		tallies, err = e.best(ctx, p, emit)
	case p.choices > 1:
		tallies, err = e.concurrently(ctx, p, emit)
	default:
		tallies = make([]tally, 1)
		tallies[0], err = e.answer(ctx, p, 0, emit)
	}
	return append(tallies, scored...), err
}
