package format

import (
	"context"
	"errors"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/grammar"
)

// Constraint is what the tools and the format of a request come to in an output
// format. It is shared by requests and not changed.
type Constraint struct {
	Tools      Tools            // that may be called
	Unenforced []engine.Place   // parts of schemas that are not enforced
	Grammar    *grammar.Grammar // of the whole output; nil: anything goes
	Size       int              // of memory, about
}

// Constrain reads each schema of a request once and makes one grammar of all.
// opening is what the prompt holds of the answer, and thinks says that the model
// may begin to reason. Whether a client asked for strictness makes no
// difference: what can be enforced is.
func Constrain(ctx context.Context, format *Format, req *engine.Request, opening string, thinks bool) (*Constraint, error) {
	reply, err := replyGrammar(ctx, req.Format)
	if err != nil {
		return nil, err
	}
	tools, unenforced, err := NewTools(ctx, req.Tools)
	if err != nil {
		return nil, err
	}
	done := Constraint{Unenforced: unenforced}
	if req.ToolChoice.Mode != engine.ToolNone && format.HasCalls() {
		done.Tools = tools.only(req.ToolChoice.Names)
	}
	c := &constraint{
		format:   format,
		tools:    done.Tools,
		reply:    reply,
		required: req.ToolChoice.Mode == engine.ToolRequired,
		single:   req.ToolChoice.Single,
		opening:  opening,
		thinks:   thinks && format.Open != "" && req.Reasoning.Mode != engine.ReasoningOff,
	}
	root, err := c.root(ctx)
	if err != nil {
		return nil, err
	}
	if root != nil {
		if done.Grammar, err = grammar.Compile(ctx, root); err != nil {
			return nil, c.wrong(req, err)
		}
		done.Size = done.Grammar.Size()
	}
	done.Size += done.Tools.bare() + 100*len(unenforced)
	for _, place := range unenforced {
		done.Size += len(place.Path)
	}
	return &done, nil
}

// root is the grammar of the output; nil: anything goes. Reasoning is never
// constrained, but it may not hide a call that is not one.
func (c *constraint) root(ctx context.Context) (grammar.Node, error) {
	switch {
	case c.format.channels && (c.reply != nil || len(c.tools) > 0):
		return c.channels(), nil
	case len(c.tools) == 0 && c.reply == nil:
		return nil, nil
	case len(c.tools) == 0:
		return c.reasoned(c.reply, nil), nil
	case c.required:
		return c.reasoned(nil, c.calls()), nil
	case c.reply != nil:
		return c.reasoned(c.reply, c.calls()), nil
	}
	return c.auto(ctx)
}

// wrong is the error of a constraint that does not compile.
func (c *constraint) wrong(req *engine.Request, err error) error {
	var cost *grammar.CostError
	switch {
	case errors.As(err, &cost):
		return c.tooLarge(req, cost).Because(err)
	case errors.Is(err, grammar.ErrImpossible):
		return engine.Errorf(engine.CodeInvalidArgument, "Nothing can follow the format and the tools of this request.").Because(err)
	}
	return engine.AsError(err)
}

// tooLarge names the schema that costs most.
func (c *constraint) tooLarge(req *engine.Request, cost *grammar.CostError) *engine.Error {
	if c.reply != nil && cost.Most == c.reply {
		return engine.Errorf(engine.CodeInvalidArgument, "The schema of the response format is too large or too complex to enforce.").
			At(engine.Place{Field: engine.FieldFormat})
	}
	for i, t := range req.Tools {
		if made := c.tools[t.Name]; made != nil && cost.Most == made.grammar {
			return engine.Errorf(engine.CodeInvalidArgument, "The schemas of this request are together too large or too complex to enforce; most of it is the tool %s.", t.Name).
				At(engine.Place{Field: engine.FieldTools, Index: i})
		}
	}
	return engine.Errorf(engine.CodeInvalidArgument, "The schemas of this request are together too large or too complex to enforce.").
		At(engine.Place{Field: engine.FieldTools})
}
