package grammar

import (
	"slices"
)

// closure collects the threads that can be reached without input.
type closure struct {
	waiting  []thread // for a byte
	complete bool

	work int // threads added or found again

	todo  []thread
	seen  []thread
	index index // of seen, from 1, if it is long
}

func (c *closure) reset() {
	c.waiting, c.todo, c.seen = c.waiting[:0], c.todo[:0], c.seen[:0]
	c.complete, c.work = false, 0
	if c.index.used > 0 {
		c.index.reset()
	}
}

// fewSeen is the length up to which a linear search is faster than hashing.
const fewSeen = 12

// add adds a thread unless it was seen.
func (c *closure) add(t thread) {
	c.work++
	if len(c.seen) < fewSeen {
		for _, s := range c.seen {
			if s == t {
				return
			}
		}
		c.seen = append(c.seen, t)
		c.todo = append(c.todo, t)
		return
	}
	if c.index.used == 0 {
		if c.index.slots == nil {
			c.index.reset()
		}
		for i := range c.seen {
			c.remember(int32(i + 1))
		}
	}
	if len(c.seen) >= maxThreads {
		return
	}
	c.seen = append(c.seen, t)
	if !c.remember(int32(len(c.seen))) {
		c.seen = c.seen[:len(c.seen)-1]
		return
	}
	c.todo = append(c.todo, t)
}

// remember adds seen[n-1] to the index. It returns false if an equal thread is there.
func (c *closure) remember(n int32) bool {
	t := c.seen[n-1]
	slot := c.index.at(mix(0, t.pc, t.frame))
	for c.index.slots[slot] != 0 {
		if c.seen[c.index.slots[slot]-1] == t {
			return false
		}
		slot = c.index.next(slot)
	}
	c.index.put(slot, n, func(n int32) uint64 { return mix(0, c.seen[n-1].pc, c.seen[n-1].frame) })
	return true
}

// index is an open-addressing hash table of numbers whose keys are stored elsewhere; 0
// is an empty slot. It is the hot path of a matcher and three times as fast as a map.
type index struct {
	slots []int32 // a power of two
	used  int
}

const firstSlots = 64

// reset empties the index.
func (x *index) reset() {
	x.used = 0
	if x.slots == nil {
		x.slots = make([]int32, firstSlots)
	}
	clear(x.slots)
}

// at returns the first slot to probe for a hash.
func (x *index) at(hash uint64) int { return int(hash>>32) & (len(x.slots) - 1) }

func (x *index) next(slot int) int { return (slot + 1) & (len(x.slots) - 1) }

// reserve counts what the next put allocates.
func (x *index) reserve(m *meter) {
	if 2*(x.used+1) >= len(x.slots) {
		m.spend(len(x.slots)/64, 8*len(x.slots))
	}
}

// put fills an empty slot. hashOf is for rehashing.
func (x *index) put(slot int, n int32, hashOf func(int32) uint64) {
	x.slots[slot] = n
	if x.used++; 2*x.used < len(x.slots) {
		return
	}
	old := x.slots
	x.slots = make([]int32, 2*len(old))
	for _, n := range old {
		if n == 0 {
			continue
		}
		slot := x.at(hashOf(n))
		for x.slots[slot] != 0 {
			slot = x.next(slot)
		}
		x.slots[slot] = n
	}
}

// mix adds two numbers to a hash, whose upper half is used by at.
func mix(hash uint64, a, b int32) uint64 {
	hash ^= uint64(uint32(a))<<32 | uint64(uint32(b))
	hash *= 0x9E3779B97F4A7C15
	return hash ^ hash>>29
}

// snapshot is a state without the caches of its matcher.
type snapshot struct {
	frames   []frame // above bottom, parents first
	reading  []thread
	complete bool
}

// snapshot returns state i, with frames numbered from 1.
func (m *Matcher) snapshot(i int32) snapshot {
	s := m.states[i]
	p := snapshot{reading: slices.Clone(m.threads[s.from:s.to]), complete: s.complete}
	moved := make([]int32, len(m.frames)) // new numbers; -1: used, not numbered yet
	for _, t := range p.reading {
		for f := t.frame; f != bottom && moved[f] == 0; f = m.frames[f].parent {
			moved[f] = -1
		}
	}
	for i, n := range moved { // parents come before children
		if n != 0 {
			f := m.frames[i]
			f.parent = moved[f.parent]
			p.frames = append(p.frames, f)
			moved[i] = int32(len(p.frames))
		}
	}
	for i := range p.reading {
		p.reading[i].frame = moved[p.reading[i].frame]
	}
	return p
}

// restore resets m to the snapshot p.
func (m *Matcher) restore(p snapshot) {
	m.reset()
	for _, f := range p.frames {
		m.frame(f)
	}
	m.found.reset()
	m.found.waiting = append(m.found.waiting, p.reading...)
	m.found.complete = p.complete
	m.current = m.intern()
	m.room = max(maxKnown, 2*m.known())
	if m.burn(len(p.frames) + len(p.reading)); m.fuel < 0 {
		m.giveUp()
	}
}
