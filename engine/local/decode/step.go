package decode

import (
	"errors"
	"slices"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
	"github.com/diglot/diglot/engine/chat/grammar"
)

// step decodes one batch and samples the next token of each sequence that has
// no pending tokens left.
func (l *loop) step(batch []Entry) {
	active := slices.DeleteFunc(slices.Clone(l.running), func(s *sequence) bool { return s.rows == 0 })
	prefilling := slices.ContainsFunc(active, (*sequence).prefilling)
	start := time.Now()
	result := l.compute(active, func() Outcome { return l.backend.Decode(batch, l.sharesPrefix(active)) })
	l.settle(active, result)
	if l.drafter != nil && !prefilling && result == Computed {
		l.drafter.pace.Add(len(batch), time.Since(start))
	}
}

// sharesPrefix reports whether each cell is attended to by two rows or more on
// average: in a prefill chunk, by a guess, or where sequences share a prefix.
func (l *loop) sharesPrefix(active []*sequence) bool {
	attended, rows := 0, 0
	for _, s := range active {
		attended += s.rows * len(s.cells)
		rows += s.rows
	}
	return rows > 1 && attended >= 2*distinct(l.cells, active, (*sequence).held)
}

// settle applies the outcome of a decode to its sequences.
func (l *loop) settle(active []*sequence, result Outcome) {
	switch result {
	case Computed:
		l.advance(active)
	case Interrupted:
		// Canceled sequences are dropped before the next step.
	case CacheFull:
		// Our count of free cells disagrees with llama.cpp, which is right.
		l.onCacheFull(active)
	case Failed:
		for _, s := range active {
			l.freeSlot(s)
			s.fail(engine.Errorf(engine.CodeInternal, "The model could not compute the next token."))
		}
		l.retire()
	}
}

// compute runs work, which onCancel may interrupt, and counts it as a step.
func (l *loop) compute(active []*sequence, work func() Outcome) Outcome {
	start := time.Now()
	result := l.interruptible(active, work)
	l.count(Stats{Steps: 1, Decoding: time.Since(start)})
	return result
}

// interruptible runs work, which onCancel may interrupt.
func (l *loop) interruptible(active []*sequence, work func() Outcome) Outcome {
	l.mu.Lock()
	l.computing = active
	if !l.closed {
		l.resume()
	}
	l.mu.Unlock()
	result := work()
	l.mu.Lock()
	l.computing = nil
	l.mu.Unlock()
	return result
}

// count adds what a step made to the counters: all but ImagesEncoded and
// Preempted.
func (l *loop) count(more Stats) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := &l.stats
	s.Steps += more.Steps
	s.Prefilled += more.Prefilled
	s.Reused += more.Reused
	s.Generated += more.Generated
	s.Drafted += more.Drafted
	s.Held += more.Held
	s.DraftSteps += more.DraftSteps
	s.DraftChecked += more.DraftChecked
	s.DraftHeld += more.DraftHeld
	s.Decoding += more.Decoding
	s.Sampling += more.Sampling
}

func (l *loop) onCacheFull(active []*sequence) {
	if l.evict() {
		return
	}
	if len(l.running) > 1 {
		l.preempt()
		return
	}
	for _, s := range active {
		l.freeSlot(s)
		s.fail(engine.Errorf(engine.CodeInternal, "The model's KV cache is full."))
	}
	l.retire()
}

// advance counts the decoded rows and samples.
func (l *loop) advance(active []*sequence) {
	start := time.Now()
	var made Stats
	for _, s := range active {
		l.advanceOne(s, &made)
	}
	ended := l.retire()
	made.Sampling = time.Since(start)
	l.count(made)
	if ended {
		l.logGuesses()
	}
}

// advanceOne is advance for one sequence, and adds to what the step made.
func (l *loop) advanceOne(s *sequence, made *Stats) {
	if s.generated == 0 {
		made.Prefilled += s.rows - s.drafted
		if len(s.cells) == s.cached {
			made.Reused += s.cached
		}
	}
	if s.scores != nil {
		l.score(s)
	}
	s.cells = l.cells.allocate(s.cells, s.rows)
	held := 0
	if s.pending() == -s.drafted && !s.done {
		var emitted int
		emitted, held = l.sample(s)
		made.Generated += emitted
	}
	made.Drafted += s.drafted
	made.Held += held
	if s.drafted > 0 && s.guesser.Kinds[0].OfModel() {
		made.DraftChecked += s.drafted
		made.DraftHeld += held
	}
}

// sampleRow samples the sequence's next token from a row of logits. few are all tokens
// that may come, unless it is nil.
func (l *loop) sampleRow(s *sequence, row int, few []int32) {
	if s.scores != nil {
		s.end(chat.EndLength)
		return
	}
	c, err := s.sampler.next(l.backend.Logits(row), few)
	switch {
	case errors.Is(err, grammar.ErrTooMuchWork):
		s.fail(chat.MatchError(s.job.Request, err))
		return
	case err != nil:
		s.fail(engine.Errorf(engine.CodeInternal, "The model could not continue the text.").Because(err))
		return
	}
	if !c.emitted {
		s.end(chat.EndOfTurn)
		return
	}
	s.generated++
	s.tokens = append(s.tokens, c.token)
	s.put(chat.Piece{Bytes: c.text, Logprob: c.logprob, Top: c.top})
	switch {
	case c.end || s.sampler.finished():
		s.end(chat.EndOfTurn)
	case s.generated >= s.job.MaxTokens || len(s.tokens) >= l.context:
		s.end(chat.EndLength)
	}
}

// retire moves ended sequences from running to the cache. It reports whether there were
// any.
func (l *loop) retire() bool {
	before := len(l.running)
	l.running = slices.DeleteFunc(l.running, func(s *sequence) bool {
		if s.done {
			l.cachePrefix(s)
		}
		return s.done
	})
	return len(l.running) < before
}
