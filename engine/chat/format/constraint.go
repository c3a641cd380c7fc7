package format

import (
	"context"
	"errors"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/grammar"
)

// Constraint holds the tools and the grammar of a request in an output format.
// Requests share it; it is not changed.
type Constraint struct {
	Tools      Tools            // that may be called
	Unenforced []engine.Place   // schema keywords that are not enforced
	Grammar    *grammar.Grammar // of the whole output; nil: unconstrained
	Size       int              // estimated bytes of memory
}

// Constrain compiles the schemas of a request into one grammar. opening is the
// part of the answer that the prompt already holds; thinks: the model may reason.
// What can be enforced is enforced, whether a client sets strict or not.
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
	done.Size += done.Tools.compact() + 100*len(unenforced)
	for _, place := range unenforced {
		done.Size += len(place.Path)
	}
	return &done, nil
}

// root is the grammar of the output; nil: unconstrained. Reasoning is free text
// that may not contain what the scanner reads as a call.
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

// wrong is the error of a grammar that does not compile.
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

// tooLarge names the most expensive schema.
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
