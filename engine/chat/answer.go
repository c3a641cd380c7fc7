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
	out := format.NewReader(p.format, format.Options{Choice: choice, Tools: p.tools, Opening: p.opening, Stops: p.stops,
		Logprobs: p.request.Logprobs != nil, IDs: callIDs(p.request.Messages), NewID: newID})
	hand := func() error {
		if idErr != nil {
			return idErr
		}
		for _, event := range out.Events() {
			if !emit(event) {
				return errLeft
			}
		}
		return nil
	}
	if echoes(p.request) {
		out.Echo(p.request.Prompt.Text, p.echoed)
		if err := hand(); err != nil {
			return t, err
		}
	}
	reason, err := e.decode(ctx, p, choice, out, &t, hand)
	if err != nil {
		return t, err
	}
	out.Finish(reason)
	t.reasoning = out.ReasoningTokens()
	return t, hand()
}

// decode reads what the model generates until it or the answer ends, and says
// why. hand passes on the events of a piece.
func (e *Engine) decode(ctx context.Context, p *plan, choice int, out *format.Reader, t *tally, hand func() error) (engine.FinishReason, error) {
	if p.limit == 0 {
		return engine.FinishMaxTokens, nil // a limit of nothing is obeyed too
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
		if err := hand(); err != nil {
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
