package chat

import (
	"context"
	"sync"

	"github.com/diglot/diglot/engine"
)

// sideBySide generates several choices at the same time. Their events go
// through one goroutine, the caller's, so that emit need not expect others.
func (e *Engine) sideBySide(ctx context.Context, p *plan, emit func(engine.Event) bool) ([]tally, error) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait() // no work goes on behind the caller's back
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
				return nil, errLeft
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return tallies, nil
}
