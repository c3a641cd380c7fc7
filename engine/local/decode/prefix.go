package decode

import (
	"slices"

	"github.com/diglot/diglot/engine/chat"
)

// Prefix reuse: a sequence that starts takes over the cells of the longest
// prefix that it has in common with any other.

// worthWaiting is how many tokens a sequence must save to wait for another
// that is still reading them: what is waited for is one batch, which costs as
// much as reading so many. Choices of one request always wait, so that all go
// on from the same numbers.
func (s *sequence) worthWaiting() int {
	if s.job.Choices > 1 {
		return 1
	}
	return 8
}

// maxKept is how many texts stay in the cache after their requests ended.
const maxKept = 32

// common is the length of the longest common prefix.
func common(a, b []int32) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// longest finds the sequence with the longest prefix of seq in the cache
// now. The last token is never taken over: it must be read for its logits.
func (l *loop) longest(seq *sequence) (from *sequence, length int) {
	for _, group := range [][]*sequence{l.kept, l.live} {
		for _, s := range group {
			n := seq.shareable(min(common(seq.tokens, s.tokens[:len(s.cells)]), len(seq.tokens)-1))
			if n > length && l.backend.Whole(s.id) {
				from, length = s, n
			}
		}
	}
	return from, length
}

// promised is the longest prefix that seq will have in common with an older
// sequence once that one has read its prompt. Only older ones count, so
// that nobody waits in a circle.
func (l *loop) promised(seq *sequence) int {
	length := 0
	for _, s := range l.live {
		if s.age < seq.age && s.pending() > 0 {
			length = max(length, min(common(seq.tokens, s.tokens), len(seq.tokens)-1))
		}
	}
	return length
}

// start gives seq a place in the cache, with what others have read for it.
// It returns false where seq does better to wait.
func (l *loop) start(seq *sequence) bool {
	if !l.backend.Shares() || seq.scores != nil { // what is taken over has no logits
		seq.id, seq.cached = l.takeID(), 0
		return true
	}
	from, length := l.longest(seq)
	if promised := l.promised(seq); promised >= length+seq.worthWaiting() || seq.views != nil && seq.looksWithin(length, promised) {
		return false
	}
	i := slices.Index(l.kept, from)
	switch {
	case length == 0:
		seq.id = l.takeID()
	case i >= 0 && length == len(from.cells):
		// seq continues the kept text: it takes its place.
		l.kept = slices.Delete(l.kept, i, i+1)
		seq.id, seq.cells = from.id, from.cells
	default:
		if i >= 0 { // used last
			l.kept = append(slices.Delete(l.kept, i, i+1), from)
		}
		seq.id = l.takeID()
		l.backend.CopySequence(from.id, seq.id, seq.position(length))
		seq.cells = l.cells.share(from.cells[:length])
	}
	if seq.cached < 0 {
		seq.cached = length
	}
	return true
}

// keep leaves what an ended sequence has read in the cache, for a request
// that begins the same: the next turn of the conversation, or a retry.
func (l *loop) keep(seq *sequence) {
	if seq.id < 0 {
		return
	}
	if !l.backend.Shares() || len(seq.cells) == 0 {
		l.vacate(seq)
		return
	}
	// Of several answers to one prompt, the last is kept: kept texts make
	// every step a little slower, and most answers are never continued. While
	// other choices of the request go on, none is given up: they would go on in
	// its cells, and the last digits of llama.cpp's numbers depend on the order
	// of cells.
	prompt, others := len(seq.job.Prompt), l.choosing(seq)
	l.kept = slices.DeleteFunc(l.kept, func(k *sequence) bool {
		again := !others && len(k.job.Prompt) == prompt && common(k.tokens, seq.tokens) >= prompt
		if again {
			l.vacate(k)
		}
		return again
	})
	l.kept = append(l.kept, &sequence{id: seq.id, cells: seq.cells, tokens: seq.tokens[:len(seq.cells)], job: chat.Job{Prompt: seq.job.Prompt}})
	seq.id, seq.cells = -1, nil
	if len(l.kept) > maxKept {
		l.evict()
	}
}

// choosing reports whether other choices of the request of seq go on.
func (l *loop) choosing(seq *sequence) bool {
	return seq.job.Choices > 1 && slices.ContainsFunc(l.live, func(s *sequence) bool {
		return !s.done && s.job.Request == seq.job.Request
	})
}

// evict drops the kept text that was unused for longest; false: there is
// none.
func (l *loop) evict() bool {
	if len(l.kept) == 0 {
		return false
	}
	l.vacate(l.kept[0])
	l.kept = slices.Delete(l.kept, 0, 1)
	return true
}

// vacate gives up the sequence's place in the cache.
func (l *loop) vacate(seq *sequence) {
	if seq.id < 0 {
		return
	}
	l.backend.RemoveSequence(seq.id)
	l.cells.release(seq.cells, 0)
	l.ids = append(l.ids, seq.id)
	seq.id, seq.cells = -1, nil
}

// takeID takes a free number. There is one: there are as many numbers as
// live and kept sequences at most, and the caller is a live one without.
func (l *loop) takeID() int {
	id := l.ids[len(l.ids)-1]
	l.ids = l.ids[:len(l.ids)-1]
	return id
}
