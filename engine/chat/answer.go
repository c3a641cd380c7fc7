package chat

import (
	"context"
	"errors"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat/format"
)

// answer generates one choice.
func (e *Engine) answer(ctx context.Context, p *plan, choice int, emit func(engine.Event) bool) (tally, error) {
	t := tally{choice: choice}
	var idErr error
	newID := func() string {
		id, err := newID(e.random, p.idLength)
		if err != nil {
			idErr = err
		}
		return id
	}
	out := format.NewParser(p.format, format.Options{Choice: choice, Tools: p.tools, Opening: p.opening, Stops: p.stops,
		Logprobs: p.request.Logprobs != nil, IDs: callIDs(p.request.Messages), NewID: newID})
	flush := func() error {
		if idErr != nil {
			return idErr
		}
		for _, event := range out.Events() {
			if !emit(event) {
				return errStopped
			}
		}
		return nil
	}
	if echoes(p.request) {
		out.Echo(p.request.Prompt.Text, p.echoed)
		if err := flush(); err != nil {
			return t, err
		}
	}
	reason, err := e.decode(ctx, p, choice, out, &t, flush)
	if err != nil {
		return t, err
	}
	out.Finish(reason)
	t.reasoning = out.ReasoningTokens()
	return t, flush()
}

// decode parses generated tokens until the model or the answer ends, and returns
// the reason. flush emits the events that each token completed.
func (e *Engine) decode(ctx context.Context, p *plan, choice int, out *format.Parser, t *tally, flush func() error) (engine.FinishReason, error) {
	if p.limit == 0 {
		return engine.FinishMaxTokens, nil
	}
	for piece, err := range e.model.Decode(ctx, p.job(choice)) {
		if err != nil {
			return "", err
		}
		t.cached = piece.Cached
		switch piece.End {
		case EndOfTurn:
			return engine.FinishEndOfTurn, nil
		case EndLength:
			return engine.FinishMaxTokens, nil
		}
		t.completion++
		t.logprob += piece.Logprob
		out.Read(engine.TokenLogprob{Token: piece.Bytes, Logprob: piece.Logprob, Top: piece.Top})
		if err := flush(); err != nil {
			return "", err
		}
		if out.Done() {
			return engine.FinishEndOfTurn, nil
		}
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	return "", engine.Errorf(engine.CodeInternal, "Internal error.").
		Because(errors.New("the model stopped without an end"))
}
