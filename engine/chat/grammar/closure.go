package grammar

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
