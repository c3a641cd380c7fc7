package chat

import (
	"bytes"

	"github.com/diglot/diglot/engine"
)

// tokenLedger knows which tokens the raw output is made of, until their bytes
// have found a block.
type tokenLedger struct {
	report     bool // log probabilities are wanted
	end        int  // of the raw output so far
	waiting    []tokenEntry
	reasoned   int // tokens with at least one byte in a reasoning block
	pending    []pendingToken
	textLength int // bytes of the open text block that came
}

type tokenEntry struct {
	end       int // in the raw output
	logprob   engine.TokenLogprob
	reported  bool
	reasoning bool
}

// pendingToken waits for its text to be shown.
type pendingToken struct {
	at      int // of its first byte in the text of the block
	logprob engine.TokenLogprob
}

// add enters the next token of the output.
func (l *tokenLedger) add(t engine.TokenLogprob) {
	l.end += len(t.Token)
	if len(t.Token) == 0 {
		return // stands for no text, and belongs to none
	}
	e := tokenEntry{end: l.end}
	if l.report {
		t.Token = bytes.Clone(t.Token)
		e.logprob = t
	}
	l.waiting = append(l.waiting, e)
}

// reasoning says that n bytes at a place went into a reasoning block.
func (l *tokenLedger) reasoning(at, n int) {
	l.visit(at, n, func(e *tokenEntry, _ int) {
		if !e.reasoning {
			e.reasoning = true
			l.reasoned++
		}
	})
}

// text says that n bytes at a place are the next of the open text block.
func (l *tokenLedger) text(at, n int) {
	l.visit(at, n, func(e *tokenEntry, start int) {
		if l.report && !e.reported {
			e.reported = true
			l.pending = append(l.pending, pendingToken{at: l.textLength + start - at, logprob: e.logprob})
		}
	})
	l.textLength += n
}

// visit calls f with each token that has a byte in the n bytes at a place, and
// where its part of them begins; it drops the tokens that end before or there.
func (l *tokenLedger) visit(at, n int, f func(*tokenEntry, int)) {
	start := at
	for len(l.waiting) > 0 {
		e := &l.waiting[0]
		if e.end > at {
			if start >= at+n {
				return
			}
			f(e, start)
			if e.end > at+n {
				return
			}
			start = e.end
		}
		l.waiting = l.waiting[1:]
	}
}

// shown returns the tokens of the text that was shown, where the last held
// bytes of it were not.
func (l *tokenLedger) shown(held int) []engine.TokenLogprob {
	var out []engine.TokenLogprob
	for len(l.pending) > 0 && l.pending[0].at < l.textLength-held {
		out = append(out, l.pending[0].logprob)
		l.pending = l.pending[1:]
	}
	return out
}

// forget drops what is left of a block that ends.
func (l *tokenLedger) forget() { l.pending, l.textLength = nil, 0 }
