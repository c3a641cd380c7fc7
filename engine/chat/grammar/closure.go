package grammar

import (
	"slices"
)

// closure collects what can be reached without reading.
type closure struct {
	reading  []thread // those that wait for a byte
	complete bool

	work int // threads that were added or found again

	todo  []thread
	seen  []thread
	index index // of seen, where that is long: its places, from 1
}

func (c *closure) reset() {
	c.reading, c.todo, c.seen = c.reading[:0], c.todo[:0], c.seen[:0]
	c.complete, c.work = false, 0
	if c.index.used > 0 {
		c.index.reset()
	}
}

// fewSeen is the length up to which looking through a list is faster than
// computing hashes.
const fewSeen = 12

// add notes a thread that was not seen before.
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
	if len(c.seen) >= maxWays {
		return
	}
	c.seen = append(c.seen, t)
	if !c.remember(int32(len(c.seen))) {
		c.seen = c.seen[:len(c.seen)-1]
		return
	}
	c.todo = append(c.todo, t)
}

// remember puts the last of seen into the index, or reports that an equal
// thread is there.
func (c *closure) remember(n int32) bool {
	t := c.seen[n-1]
	slot := c.index.at(mix(0, t.pc, t.frame))
	for c.index.slots[slot] != 0 {
		if c.seen[c.index.slots[slot]-1] == t {
			return false
		}
		slot = c.index.behind(slot)
	}
	c.index.put(slot, n, func(n int32) uint64 { return mix(0, c.seen[n-1].pc, c.seen[n-1].frame) })
	return true
}

// index finds numbered things by their content, without copying it: a hash
// table whose slots hold numbers, 0 for none. Maps cost three times as much
// here, and this is where a matcher spends its time.
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

// at returns the first slot to look into for a hash; the next ones are those
// behind it.
func (x *index) at(hash uint64) int { return int(hash>>32) & (len(x.slots) - 1) }

func (x *index) behind(slot int) int { return (slot + 1) & (len(x.slots) - 1) }

// room counts what the next put allocates.
func (x *index) room(m *meter) {
	if 2*(x.used+1) >= len(x.slots) {
		m.spend(len(x.slots)/64, 8*len(x.slots))
	}
}

// put fills an empty slot. hashOf returns the hash of a number, for moving
// to a larger table.
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
			slot = x.behind(slot)
		}
		x.slots[slot] = n
	}
}

// mix adds two numbers to a hash (multiplication by a large odd constant
// spreads them over the upper half, which at uses).
func mix(hash uint64, a, b int32) uint64 {
	hash ^= uint64(uint32(a))<<32 | uint64(uint32(b))
	hash *= 0x9E3779B97F4A7C15
	return hash ^ hash>>29
}

// place is where a text is, without what was learned on the way.
type place struct {
	frames   []frame // above bottom, parents first
	reading  []thread
	complete bool
}

// place returns what state i is, with frames numbered from 1.
func (m *Matcher) place(i int32) place {
	s := m.states[i]
	p := place{reading: slices.Clone(m.threads[s.from:s.to]), complete: s.complete}
	moved := make([]int32, len(m.frames)) // new numbers; -1: to be had
	for _, t := range p.reading {
		for f := t.frame; f != bottom && moved[f] == 0; f = m.frames[f].parent {
			moved[f] = -1
		}
	}
	for i, n := range moved { // a parent is older than its children
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

// restart makes m know the place p and nothing else.
func (m *Matcher) restart(p place) {
	m.forget()
	for _, f := range p.frames {
		m.frame(f)
	}
	m.found.reset()
	m.found.reading = append(m.found.reading, p.reading...)
	m.found.complete = p.complete
	m.current = m.intern()
	m.room = max(maxKnown, 2*m.known())
	if m.burn(len(p.frames) + len(p.reading)); m.fuel < 0 {
		m.giveUp()
	}
}
