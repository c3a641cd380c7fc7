package script

import (
	"fmt"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
)

// constrain checks that the text may go on with one more token.
func (p *player) constrain(text []byte) error {
	c := p.job.Constraint
	if c == nil || c.Accept(text) {
		return nil
	}
	if err := c.Err(); err != nil {
		return chat.MatchError(p.job.Request, err)
	}
	return p.violation(fmt.Sprintf("it goes on with %q where that is not allowed", text))
}

// complete checks that the text may end.
func (p *player) complete() error {
	c := p.job.Constraint
	if c == nil || c.Complete() {
		return nil
	}
	return p.violation("it ends too early")
}

// violation is the error of a reply that a real model could not give. It is
// no mistake in the request, and a retry would play the same reply.
func (p *player) violation(what string) error {
	e := engine.Errorf(engine.CodeInternal, "Reply %d of the script of model %q violates the request's tool_choice or format: %s.",
		p.number, p.model.info.Name, what)
	e.NoRetry = true
	return e
}
