package chat

import (
	"context"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/format"
)

// constrain compiles the tools and the format of a request, or takes them from
// the cache. The plan must be closed.
func (e *Engine) constrain(ctx context.Context, p *plan) error {
	c, release, err := e.constraints.get(ctx, constraintKey(p.request, p.opening), func(ctx context.Context) (*format.Constraint, error) {
		return format.Constrain(ctx, e.formatOf(p.request), p.request, p.opening, e.canReason)
	})
	if err != nil {
		return err
	}
	p.tools, p.constraint, p.start.Unenforced, p.release = c.Tools, c.Grammar, c.Unenforced, release
	return nil
}

// MatchError is the error of a request whose grammar takes too much work to match;
// see [grammar.ErrTooMuchWork].
func MatchError(req *engine.Request, err error) *engine.Error {
	place := engine.Place{Field: engine.FieldFormat}
	if req != nil && len(req.Tools) > 0 {
		place.Field = engine.FieldTools
	}
	return engine.Errorf(engine.CodeInvalidArgument,
		"The schemas of this request are too ambiguous to enforce: there are too many ways to parse the same text.").At(place).Because(err)
}
