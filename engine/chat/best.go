package chat

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/diglot/diglot/engine"
)

// best generates more answers than are wanted and emits those whose tokens
// have the highest mean log probability, best first. Which they are is known
// at the end, so until then nothing is emitted.
func (e *Engine) best(ctx context.Context, p *plan, emit func(engine.Event) bool) ([]tally, error) {
	answers := make([][]engine.Event, p.choices)
	tallies, err := e.sideBySide(ctx, p, func(event engine.Event) bool {
		i := choiceOf(event)
		answers[i] = append(answers[i], event)
		return true
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(tallies, func(a, b tally) int {
		return cmp.Or(cmp.Compare(b.mean(), a.mean()), cmp.Compare(a.choice, b.choice))
	})
	for place, t := range tallies[:p.wanted] {
		for _, event := range answers[t.choice] {
			if !emit(renumbered(event, place)) {
				return nil, errLeft
			}
		}
	}
	return tallies, nil
}

// mean is the mean log probability of the tokens of an answer. An answer of
// none is worse than any other.
func (t tally) mean() float64 {
	if t.completion == 0 {
		return math.Inf(-1)
	}
	return t.logprob / float64(t.completion)
}

// choiceOf is the number of the choice that an event of an answer belongs to.
func choiceOf(event engine.Event) int {
	switch e := event.(type) {
	case engine.BlockStart:
		return e.Choice
	case engine.TextDelta:
		return e.Choice
	case engine.ReasoningDelta:
		return e.Choice
	case engine.ToolCallDelta:
		return e.Choice
	case engine.BlockStop:
		return e.Choice
	case engine.Finish:
		return e.Choice
	}
	return 0 // the others belong to no choice, and a writer makes none
}

// renumbered is the event as one of another choice.
func renumbered(event engine.Event, choice int) engine.Event {
	switch e := event.(type) {
	case engine.BlockStart:
		e.Choice = choice
		return e
	case engine.TextDelta:
		e.Choice = choice
		return e
	case engine.ReasoningDelta:
		e.Choice = choice
		return e
	case engine.ToolCallDelta:
		e.Choice = choice
		return e
	case engine.BlockStop:
		e.Choice = choice
		return e
	case engine.Finish:
		e.Choice = choice
		return e
	}
	return event
}
