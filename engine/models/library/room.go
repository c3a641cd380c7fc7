package library

import (
	"errors"
	"math"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/local/memory"
)

// comfortable is the context, in tokens, that a model is content with if more
// would cost another one its place: with less, a conversation soon ends.
const comfortable = 8192

// longestStay bounds how long a model takes requests after its load though
// another one wants its memory. Up to it that is as long as the load took: with
// models that fit only one at a time, the server would else do little but load.
// One that has no request goes at once.
const longestStay = time.Minute

// admit waits until there is memory for r, takes it, and returns the launch
// with what it may have. Loads wait in turn: otherwise small ones could keep a
// large one waiting for ever.
func (e *Engine) admit(r *resident, l Launch) (Launch, *engine.Error) {
	select {
	case e.turn <- struct{}{}:
	case <-e.ctx.Done():
		return l, shutDown()
	}
	defer func() { <-e.turn }()
	for {
		s := e.survey(r)
		plan, done, err := e.room(l, s)
		switch {
		case err != nil:
			return l, err
		case done:
			e.take(r, plan)
			l.Context, l.Memory = plan.Context, s.free
			return l, nil
		}
		select {
		case <-s.wait:
		case <-s.later():
		case <-e.ctx.Done():
			return l, shutDown()
		}
	}
}

func (e *Engine) take(r *resident, plan memory.Plan) {
	e.mu.Lock()
	defer e.mu.Unlock()
	r.plan, r.begun = plan, time.Now()
}

// room reports whether there is memory for a launch. If there is not, others may
// be told to leave, and it is to be tried again when things have changed.
//
// Nobody else takes memory meanwhile, so what was free stays free. The plans
// read files, so the mutex is not held for them.
func (e *Engine) room(l Launch, s survey) (plan memory.Plan, done bool, err *engine.Error) {
	if s.unwanted {
		return plan, false, engine.Errorf(engine.CodeCanceled, "The request was canceled.")
	}
	best, refused := e.config.Plan(l, s.all)
	if refused != nil {
		return plan, false, e.tooLarge(l, refused)
	}
	plan = best
	if s.free < s.all {
		plan, refused = e.config.Plan(l, s.free)
	}
	fits := refused == nil
	switch {
	case fits && plan.Context >= min(best.Context, comfortable):
		return plan, true, nil
	case s.ending:
		return plan, false, nil
	case s.idle != nil:
		e.evict(s.idle, l)
		return plan, false, nil
	case fits: // with less than it could have, but the others are in use
		return plan, true, nil
	case e.fitsIn(l, s.soon):
		return plan, false, nil
	case s.busy != nil:
		e.evict(s.busy, l)
		return plan, false, nil
	case s.stay > 0:
		return plan, false, nil
	}
	return plan, false, e.tooLarge(l, refused)
}

func (e *Engine) fitsIn(l Launch, free int64) bool {
	_, refused := e.config.Plan(l, free)
	return refused == nil
}

// evict lets a resident leave because l needs its memory.
func (e *Engine) evict(r *resident, l Launch) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.log(r).Info("model unloaded", "reason", "another one needs the memory", "other", l.Name)
	e.leave(r)
}

// survey is what a load sees of the others.
type survey struct {
	free     int64           // bytes that nobody has
	soon     int64           // and with those of residents that are leaving
	all      int64           // and with those of all others
	idle     *resident       // of those that nobody uses, the one that was used least recently; nil: none
	busy     *resident       // of the others that take new requests and may go, likewise
	stay     time.Duration   // until others that take new requests may go as well; 0: there are none
	ending   bool            // an instance is being closed
	unwanted bool            // nobody waits for the load any more, and nobody will
	wait     <-chan struct{} // closed when this has changed
}

// staying notes one that may go after so long a time.
func (s *survey) staying(d time.Duration) {
	if s.stay == 0 || d < s.stay {
		s.stay = d
	}
}

// later is when the survey has changed without being told so; nil: never.
func (s survey) later() <-chan time.Time {
	if s.stay == 0 {
		return nil
	}
	return time.After(s.stay)
}

// survey looks around for r.
func (e *Engine) survey(r *resident) survey {
	available := e.available()
	e.mu.Lock()
	defer e.mu.Unlock()
	s := survey{wait: e.changed}
	if r.users == 0 {
		e.leave(r) // nobody can join it any more
		s.unwanted = true
		return s
	}
	var taken, going int64
	now := time.Now() // once: what is over while this looks would have no time left
	for _, other := range e.residents() {
		size := other.plan.Total()
		if size == 0 { // served elsewhere, failed, or behind r in the queue
			continue
		}
		taken += size
		if !other.isReady() {
			available -= size // it is going to take it
		}
		switch {
		case e.leaving[other]:
			going += size
			s.ending = s.ending || other.ended
		case other.users == 0:
			s.idle = older(s.idle, other)
		case !other.isReady():
			s.staying(longestStay) // or until it is
		case other.stays.After(now):
			s.staying(other.stays.Sub(now))
		default:
			s.busy = older(s.busy, other)
		}
	}
	left := func(freed int64) int64 {
		if e.config.Budget == 0 {
			return available + freed
		}
		return min(e.config.Budget-taken, available) + freed
	}
	s.free, s.soon, s.all = left(0), left(going), left(taken)
	return s
}

// available is what the machine has left. Where it does not tell, the budget
// is the only limit.
func (e *Engine) available() int64 {
	const unlimited = math.MaxInt64 / 2 // with room for what is added to it
	if e.config.Available == nil {
		return unlimited
	}
	bytes, err := e.config.Available()
	if err != nil {
		e.config.Log.Warn("the memory of the machine is not known", "err", err)
		return unlimited
	}
	return bytes
}

// older is the one that was used less recently.
func older(a, b *resident) *resident {
	if a == nil || b.used.Before(a.used) {
		return b
	}
	return a
}

// tooLarge is the error of a model that does not fit, with the numbers. It is
// no error of the kind that clients try again after: the machine will be the
// same one.
func (e *Engine) tooLarge(l Launch, refused error) *engine.Error {
	var numbers *memory.DoesNotFit
	if !errors.As(refused, &numbers) {
		return e.broken(l.Name, refused)
	}
	large := engine.Errorf(engine.CodeUnsupported, "%s", numbers).At(engine.Place{Field: engine.FieldModel})
	large.NoRetry = true
	return large
}
