package decode

import (
	"errors"
	"slices"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
	"github.com/diglot/diglot/engine/chat/grammar"
)

// step computes one batch and lets each sequence whose last token is in it
// choose the next.
func (l *loop) step(batch []Entry) {
	active := slices.DeleteFunc(slices.Clone(l.live), func(s *sequence) bool { return s.rows == 0 })
	l.settle(active, l.compute(active, func() Outcome { return l.backend.Decode(batch, l.alike(active)) }))
}

// alike reports whether each cell is looked at by several tokens of a batch, as
// those of a prompt do, and texts that share one.
func (l *loop) alike(active []*sequence) bool {
	looks, tokens := 0, 0
	for _, s := range active {
		looks += s.rows * len(s.cells)
		tokens += s.rows
	}
	return tokens > 1 && looks >= 2*l.cells.distinct(active)
}

// settle books what a decode did for its sequences.
func (l *loop) settle(active []*sequence, result Outcome) {
	switch result {
	case Computed:
		l.advance(active)
	case Interrupted:
		// Nothing was read; whoever left is dropped before the next step.
	case CacheFull:
		// The books say that there is room. Where llama.cpp disagrees,
		// believe it.
		l.full(active)
	case Failed:
		for _, s := range active {
			l.vacate(s)
			s.fail(engine.Errorf(engine.CodeInternal, "The model could not compute the next token."))
		}
		l.retire()
	}
}

// compute runs the work, with its sequences visible to left.
func (l *loop) compute(active []*sequence, work func() Outcome) Outcome {
	l.mu.Lock()
	l.computing = active
	if !l.closed {
		l.backend.Resume()
	}
	l.mu.Unlock()

	start := time.Now()
	result := work()

	l.mu.Lock()
	l.computing = nil
	l.stats.Steps++
	l.stats.Computing += time.Since(start)
	l.mu.Unlock()
	return result
}

func (l *loop) full(active []*sequence) {
	if l.evict() {
		return
	}
	if len(l.live) > 1 {
		l.preempt()
		return
	}
	for _, s := range active {
		l.vacate(s)
		s.fail(engine.Errorf(engine.CodeInternal, "The model's cache has no room for the next token."))
	}
	l.retire()
}

// advance books what was read and samples.
func (l *loop) advance(active []*sequence) {
	start := time.Now()
	read, taken, made := 0, 0, 0
	for _, s := range active {
		before := len(s.cells)
		if s.made == 0 {
			read += s.rows
			if before == s.cached {
				taken += s.cached
			}
		}
		if s.scores != nil {
			l.score(s)
		}
		s.cells = l.cells.take(s.cells, s.rows)
		if s.pending() == 0 && !s.done {
			made += l.choose(s)
		}
	}
	l.retire()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stats.PromptRead += read
	l.stats.PromptTaken += taken
	l.stats.Generated += made
	l.stats.Choosing += time.Since(start)
}

// choose samples the sequence's next token and says how many were put out.
func (l *loop) choose(s *sequence) int {
	if s.scores != nil {
		s.end(chat.EndLength)
		return 0
	}
	c, err := s.sampler.next(l.backend.Logits(s.row))
	switch {
	case errors.Is(err, grammar.ErrTooMuchWork):
		s.fail(chat.MatchError(s.job.Request, err))
		return 0
	case err != nil:
		s.fail(engine.Errorf(engine.CodeInternal, "The model could not continue the text.").Because(err))
		return 0
	}
	if !c.spoken {
		s.end(chat.EndOfTurn)
		return 0
	}
	s.made++
	s.tokens = append(s.tokens, c.token)
	s.put(chat.Piece{Bytes: c.text, Logprob: c.logprob, Top: c.top})
	switch {
	case c.end || s.sampler.finished():
		s.end(chat.EndOfTurn)
	case s.made >= s.job.MaxTokens || len(s.tokens) >= l.context:
		s.end(chat.EndLength)
	}
	return 1
}

// retire takes out the sequences that ended and keeps what they read.
func (l *loop) retire() {
	l.live = slices.DeleteFunc(l.live, func(s *sequence) bool {
		if s.done {
			l.keep(s)
		}
		return s.done
	})
}
