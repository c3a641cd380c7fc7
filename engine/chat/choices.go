package chat

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/diglot/diglot/engine"
)

// concurrently generates the choices concurrently. emit is called only from the
// caller's goroutine.
func (e *Engine) concurrently(ctx context.Context, p *plan, emit func(engine.Event) bool) ([]tally, error) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()

	type report struct {
		event engine.Event // nil: the choice ended
		tally tally
		err   error
	}
	reports := make(chan report)
	send := func(r report) bool {
		select {
		case reports <- r:
			return true
		case <-ctx.Done():
			return false
		}
	}
	for i := range p.choices {
		running.Go(func() {
			t, err := e.answer(ctx, p, i, func(event engine.Event) bool { return send(report{event: event}) })
			send(report{tally: t, err: err})
		})
	}
	var tallies []tally
	for len(tallies) < p.choices {
		select {
		case r := <-reports:
			switch {
			case r.err != nil:
				return nil, r.err
			case r.event == nil:
				tallies = append(tallies, r.tally)
			case !emit(r.event):
				return nil, errStopped
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return tallies, nil
}

// best generates more choices than are wanted and emits those with the highest
// mean log probability per token, best first. The ranking is known only at the
// end, so nothing streams before.
func (e *Engine) best(ctx context.Context, p *plan, emit func(engine.Event) bool) ([]tally, error) {
	answers := make([][]engine.Event, p.choices)
	tallies, err := e.concurrently(ctx, p, func(event engine.Event) bool {
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
				return nil, errStopped
			}
		}
	}
	return tallies, nil
}

// choiceOf is the index of the choice that an event belongs to, or 0.
func choiceOf(event engine.Event) (choice int) {
	onChoice(event, func(c *int) { choice = *c })
	return choice
}

// renumbered returns the event with another choice index.
func renumbered(event engine.Event, choice int) engine.Event {
	return onChoice(event, func(c *int) { *c = choice })
}

// onChoice calls f with the choice index of an event and returns the event.
func onChoice(event engine.Event, f func(choice *int)) engine.Event {
	switch e := event.(type) {
	case engine.BlockStart:
		f(&e.Choice)
		return e
	case engine.TextDelta:
		f(&e.Choice)
		return e
	case engine.ReasoningDelta:
		f(&e.Choice)
		return e
	case engine.ToolCallDelta:
		f(&e.Choice)
		return e
	case engine.BlockStop:
		f(&e.Choice)
		return e
	case engine.Finish:
		f(&e.Choice)
		return e
	}
	return event
}
