package library

import (
	"errors"
	"math"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/local/memory"
)

// minUsefulContext is the context, in tokens, that is enough for a model if more
// would evict another one: with less, a conversation soon ends.
const minUsefulContext = 8192

// longestStay bounds how long a model in use is protected from eviction after its
// load, which is otherwise as long as the load took. Without that, a server whose
// models fit only one at a time would do little but load. An idle model is not
// protected.
const longestStay = time.Minute

// admit waits until there is memory for r, reserves it, and returns the launch with
// its context. Loads are admitted in order: otherwise small ones could keep a large
// one waiting forever.
func (e *Engine) admit(r *resident, l Launch) (Launch, *engine.Error) {
	select {
	case e.turn <- struct{}{}:
	case <-e.ctx.Done():
		return l, shutDown()
	}
	defer func() { <-e.turn }()
	for {
		s := e.survey(r)
		plan, done, err := e.tryAdmit(l, s)
		switch {
		case err != nil:
			return l, err
		case done:
			e.reserve(r, plan)
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

func (e *Engine) reserve(r *resident, plan memory.Plan) {
	e.mu.Lock()
	defer e.mu.Unlock()
	r.plan, r.begun = plan, time.Now()
}

// tryAdmit reports whether a launch fits. If it does not, it may evict another
// model, and is called again after a change.
//
// The caller holds the turn, so nobody else reserves memory meanwhile. The mutex is
// not held, because planning reads files.
func (e *Engine) tryAdmit(l Launch, s survey) (plan memory.Plan, done bool, err *engine.Error) {
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
	case fits && plan.Context >= min(best.Context, minUsefulContext):
		return plan, true, nil
	case s.ending:
		return plan, false, nil
	case s.idle != nil:
		e.evict(s.idle, l)
		return plan, false, nil
	case fits: // with a smaller context, because the others are in use
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

// evict unloads a resident because l needs its memory.
func (e *Engine) evict(r *resident, l Launch) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.log(r).Info("model unloaded", "reason", "evicted", "for", l.Name)
	e.leave(r)
}

// survey is the state of memory for a load.
type survey struct {
	free     int64           // bytes that are free
	soon     int64           // free when the leaving residents are gone
	all      int64           // free without all other residents
	idle     *resident       // least recently used idle resident; nil: none
	busy     *resident       // least recently used resident in use that may be evicted; nil: none
	stay     time.Duration   // until another resident in use may be evicted; 0: none
	ending   bool            // an instance is being closed
	unwanted bool            // no request waits for the load any more
	wait     <-chan struct{} // closed after a change
}

// staying adds a resident that may be evicted after d.
func (s *survey) staying(d time.Duration) {
	if s.stay == 0 || d < s.stay {
		s.stay = d
	}
}

// later fires when stay is over; nil: never.
func (s survey) later() <-chan time.Time {
	if s.stay == 0 {
		return nil
	}
	return time.After(s.stay)
}

// survey makes the survey for the load of r.
func (e *Engine) survey(r *resident) survey {
	available := e.available()
	e.mu.Lock()
	defer e.mu.Unlock()
	s := survey{wait: e.changed}
	if r.users == 0 {
		e.leave(r) // no request can join it any more
		s.unwanted = true
		return s
	}
	var taken, going int64
	now := time.Now() // once, or stay could become 0 during the loop
	for _, other := range e.residents() {
		size := other.plan.Total()
		if size == 0 { // remote, failed, or behind r in the queue
			continue
		}
		taken += size
		available -= max(size-other.memoryUsed(), 0)
		switch {
		case e.leaving[other]:
			going += size
			s.ending = s.ending || other.ended
		case other.users == 0:
			s.idle = older(s.idle, other)
		case !other.isReady():
			s.staying(longestStay) // or until it is ready
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

// available is the free memory of the machine. If it is unknown, the budget is the
// only limit.
func (e *Engine) available() int64 {
	const unlimited = math.MaxInt64 / 2 // sums must not overflow
	if e.config.Available == nil {
		return unlimited
	}
	bytes, err := e.config.Available()
	if err != nil {
		e.config.Log.Warn("the free memory of the machine is unknown", "err", err)
		return unlimited
	}
	return bytes
}

// Free returns how many bytes are free for models that are not loaded; false: that is not
// known.
func (e *Engine) Free() (int64, bool) {
	if e.config.Available == nil {
		return 0, false
	}
	bytes, err := e.config.Available()
	if err != nil {
		return 0, false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, r := range e.residents() {
		bytes -= max(r.plan.Total()-r.memoryUsed(), 0)
	}
	return max(bytes, 0), true
}

// older returns the less recently used one.
func older(a, b *resident) *resident {
	if a == nil || b.used.Before(a.used) {
		return b
	}
	return a
}

// tooLarge is the error for a model that does not fit, with the numbers. Clients
// must not retry it: the machine stays the same.
func (e *Engine) tooLarge(l Launch, refused error) *engine.Error {
	var numbers *memory.DoesNotFit
	if !errors.As(refused, &numbers) {
		return e.broken(l.Name, refused)
	}
	large := engine.Errorf(engine.CodeUnsupported, "%s", numbers).At(engine.Place{Field: engine.FieldModel})
	large.NoRetry = true
	return large
}
