package decode

import (
	"context"
	"slices"

	"github.com/diglot/diglot/engine"
)

// maxQueue limits how many requests wait for admission, per parallel slot. As
// many choices beyond the first of each request may wait too; when these are
// used up, only requests for more than one choice are rejected.
const maxQueue = 32

// submit queues a sequence, until its context is done.
func (l *loop) submit(seq *sequence) *engine.Error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return ErrUnloaded()
	case l.queueFull(seq):
		err := engine.Errorf(engine.CodeOverloaded, "Too many requests are waiting for this model; try again later.")
		err.RetryAfter = 5
		return err
	}
	l.waiting = append(l.waiting, l.gather(seq)...)
	context.AfterFunc(seq.ctx, l.onCancel)
	l.signaled = true
	l.wake.Signal()
	return nil
}

// queueFull reports whether the queue has no place for seq. Further choices of
// a request that has one are always accepted.
func (l *loop) queueFull(seq *sequence) bool {
	if len(l.gathering[seq.job.Request]) > 0 {
		return false
	}
	seen := map[*engine.Request]bool{}
	requests, choices := len(l.gathering), 0
	for _, s := range l.waiting {
		if seen[s.job.Request] {
			choices++
			continue
		}
		requests++
		seen[s.job.Request] = s.job.Request != nil
	}
	for _, group := range l.gathering {
		choices += group[0].job.Choices - 1
	}
	most := maxQueue * l.parallel
	return requests >= most || seq.job.Choices > 1 && choices >= most
}

func ErrUnloaded() *engine.Error {
	err := engine.Errorf(engine.CodeOverloaded, "The model is being unloaded; try again.")
	err.RetryAfter = 1
	return err
}

// gather returns the sequences to queue when seq is submitted: seq itself, or
// all choices of its request once they are complete. Starting together, they
// share the same batches, so the same request gives the same texts also where batch size
// affects rounding.
func (l *loop) gather(seq *sequence) []*sequence {
	if seq.job.Choices < 2 || seq.scores != nil {
		return []*sequence{seq}
	}
	group := append(l.gathering[seq.job.Request], seq)
	if len(group) < seq.job.Choices {
		l.gathering[seq.job.Request] = group
		return nil
	}
	delete(l.gathering, seq.job.Request)
	return group
}

// admit moves sequences from the queue to running, in order, while there are
// slots and KV cells for them.
func (l *loop) admit() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.waiting) > 0 && len(l.running) < l.parallel {
		seq := l.waiting[0]
		if len(l.running) > 0 && !l.fits(seq) {
			return
		}
		l.waiting = moveBehind(l.waiting[1:], seq.job.Request)
		if seq.age == 0 { // a preempted sequence keeps its age
			l.age++
			seq.age = l.age
		}
		at, _ := slices.BinarySearchFunc(l.running, seq.age, func(s *sequence, age uint64) int { return int(s.age) - int(age) })
		l.running = slices.Insert(l.running, at, seq)
	}
}

// moveBehind moves the other choices of a request to the end of the queue after
// one was admitted, so that a request for many choices does not delay others.
func moveBehind(waiting []*sequence, request *engine.Request) []*sequence {
	if request == nil {
		return waiting
	}
	others := make([]*sequence, 0, len(waiting))
	var same []*sequence
	for _, s := range waiting {
		if s.job.Request == request {
			same = append(same, s)
		} else {
			others = append(others, s)
		}
	}
	return append(others, same...)
}

// growthReserve is how many free cells admission leaves to each sequence, so
// that it is not preempted at once.
const growthReserve = 64

// fits reports whether seq can be admitted: cells for its prompt are free, less
// those that the running sequences still need for theirs.
func (l *loop) fits(seq *sequence) bool {
	shared, reserved := 0, 0
	for _, s := range l.running {
		if l.backend.SharesPrefixes() {
			shared = max(shared, commonPrefix(seq.tokens, s.tokens))
		}
		reserved += s.pending() + growthReserve
	}
	return len(seq.tokens)-shared+growthReserve+reserved <= l.cells.total()-distinct(l.cells, l.running, (*sequence).held)
}
