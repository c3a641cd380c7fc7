package decode

import (
	"slices"

	"github.com/diglot/diglot/engine/chat"
)

// Prefix sharing: a new sequence shares the KV cells of the longest prefix that
// it has in common with another one.

// minShared is how many tokens a sequence must save to be worth waiting for
// another that still prefills them: about what one batch costs. Choices of one
// request always wait, so that all continue from the same KV values.
func (s *sequence) minShared() int {
	if s.job.Choices > 1 {
		return 1
	}
	return 8
}

// maxCachedPrefixes is how many ended sequences stay in the cache.
const maxCachedPrefixes = 32

// commonPrefix is the length of the longest common prefix.
func commonPrefix(a, b []int32) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// longestPrefix finds the sequence that has the longest prefix of seq in the
// cache now. The last token is never shared: it is decoded for its logits.
func (l *loop) longestPrefix(seq *sequence) (from *sequence, length int) {
	for _, group := range [][]*sequence{l.cached, l.running} {
		for _, s := range group {
			n := seq.shareable(min(commonPrefix(seq.tokens, s.tokens[:len(s.cells)]), len(seq.tokens)-1))
			if n > length && l.backend.HasStart(s.id) {
				from, length = s, n
			}
		}
	}
	return from, length
}

// upcomingPrefix is the length of the prefix that seq can share once an older
// sequence has been prefilled. Only older ones count, so that no two sequences
// wait for each other.
func (l *loop) upcomingPrefix(seq *sequence) int {
	length := 0
	for _, s := range l.running {
		if s.age < seq.age && s.pending() > 0 {
			length = max(length, min(commonPrefix(seq.tokens, s.tokens), len(seq.tokens)-1))
		}
	}
	return length
}

// start gives seq a slot and the longest prefix to share. It returns false if
// seq should wait for a longer one.
func (l *loop) start(seq *sequence) bool {
	if !l.backend.SharesPrefixes() || seq.scores != nil { // shared tokens have no logits
		seq.id, seq.cached = l.takeID(), 0
		return true
	}
	from, length := l.longestPrefix(seq)
	if upcoming := l.upcomingPrefix(seq); upcoming >= length+seq.minShared() || seq.images != nil && seq.hasImageWithin(length, upcoming) {
		return false
	}
	i := slices.Index(l.cached, from)
	switch {
	case length == 0:
		seq.id = l.takeID()
	case i >= 0 && length == len(from.cells):
		// seq continues a cached prefix to its end: take over its slot.
		l.cached = slices.Delete(l.cached, i, i+1)
		seq.id, seq.cells = from.id, from.cells
	default:
		if i >= 0 { // now the most recently used
			l.cached = append(slices.Delete(l.cached, i, i+1), from)
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

// cachePrefix leaves an ended sequence in the cache, for the next turn of its
// conversation or a retry.
func (l *loop) cachePrefix(seq *sequence) {
	seq.leaveSlot()
	if seq.id < 0 {
		return
	}
	if !l.backend.SharesPrefixes() || len(seq.cells) == 0 {
		l.freeSlot(seq)
		return
	}
	// Keep the last of several answers to one prompt: cached prefixes slow each
	// step down a little, and most answers are never continued. While other
	// choices of the request run, free none: they would reuse its cells, and the
	// order of cells affects rounding.
	prompt, others := len(seq.job.Prompt), l.hasOtherChoices(seq)
	l.cached = slices.DeleteFunc(l.cached, func(k *sequence) bool {
		again := !others && len(k.job.Prompt) == prompt && commonPrefix(k.tokens, seq.tokens) >= prompt
		if again {
			l.freeSlot(k)
		}
		return again
	})
	l.cached = append(l.cached, &sequence{id: seq.id, cells: seq.cells, tokens: seq.tokens[:len(seq.cells)], job: chat.Job{Prompt: seq.job.Prompt}})
	seq.id, seq.cells = -1, nil
	if len(l.cached) > maxCachedPrefixes {
		l.evict()
	}
}

// hasOtherChoices reports whether other choices of the same request are running.
func (l *loop) hasOtherChoices(seq *sequence) bool {
	return seq.job.Choices > 1 && slices.ContainsFunc(l.running, func(s *sequence) bool {
		return !s.done && s.job.Request == seq.job.Request
	})
}

// evict frees the least recently used cached prefix. It returns false if there
// is none.
func (l *loop) evict() bool {
	if len(l.cached) == 0 {
		return false
	}
	l.freeSlot(l.cached[0])
	l.cached = slices.Delete(l.cached, 0, 1)
	return true
}

// freeSlot frees the sequence's slot and KV cells.
func (l *loop) freeSlot(seq *sequence) {
	if seq.id < 0 {
		return
	}
	l.backend.RemoveSequence(seq.id)
	l.cells.release(seq.cells, 0)
	seq.leaveSlot()
	l.ids = append(l.ids, seq.id)
	seq.id, seq.cells = -1, nil
}

// takeID returns a free sequence ID. There is always one: see [SequenceIDs].
func (l *loop) takeID() int {
	id := l.ids[len(l.ids)-1]
	l.ids = l.ids[:len(l.ids)-1]
	return id
}
