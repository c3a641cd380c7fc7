package script

import (
	"fmt"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
)

// constrain checks a token against the request's constraint.
func (p *player) constrain(text []byte) error {
	c := p.job.Constraint
	if c == nil || c.Accept(text) {
		return nil
	}
	if err := c.Err(); err != nil {
		return chat.MatchError(p.job.Request, err)
	}
	return p.violation(fmt.Sprintf("%q is not allowed there", text))
}

// complete checks that the constraint allows the end.
func (p *player) complete() error {
	c := p.job.Constraint
	if c == nil || c.Complete() {
		return nil
	}
	return p.violation("it ends too early")
}

// violation returns the error of a reply that a real model could not have given.
// The request is not at fault, and a retry would play the same reply.
func (p *player) violation(what string) error {
	e := engine.Errorf(engine.CodeInternal, "Reply %d of the script of model %q violates the request's tool_choice or format: %s.",
		p.number, p.model.info.Name, what)
	e.NoRetry = true
	return e
}
