package chat

import (
	"context"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/format"
)

// constrain finds which tools may be called and what the output must follow.
// The plan must be closed.
func (e *Engine) constrain(ctx context.Context, p *plan) error {
	c, release, err := e.constraints.get(ctx, constraintKey(p.request, p.opening), func(ctx context.Context) (*format.Constraint, error) {
		return format.Constrain(ctx, e.formatOf(p.request), p.request, p.opening, e.thinks)
	})
	if err != nil {
		return err
	}
	p.tools, p.constraint, p.start.Unenforced, p.release = c.Tools, c.Grammar, c.Unenforced, release
	return nil
}

// MatchError is what a [Model] says of a request whose Job's Constraint has
// given up; see [grammar.ErrTooMuchWork].
func MatchError(req *engine.Request, err error) *engine.Error {
	place := engine.Place{Field: engine.FieldFormat}
	if req != nil && len(req.Tools) > 0 {
		place.Field = engine.FieldTools
	}
	return engine.Errorf(engine.CodeInvalidArgument,
		"The schemas of this request are too ambiguous to enforce: there are too many ways to read one text.").At(place).Because(err)
}
