package grammar

import (
	"encoding/binary"
	"slices"
)

// Matcher follows one text through a grammar. Asking and going on both learn
// about the grammar, so a Matcher is for one goroutine at a time, also where
// it is only asked; [Matcher.Clone] makes another.
type Matcher struct {
	g       *Grammar
	current int32 // place in states

	frames     []frame
	frameIndex map[frame]int32

	// What is known of the places that texts can be in: the threads of
	// state i are threads[states[i].from:states[i].to], and byte class k
	// leads from it to next[i*len(g.member)+k].
	states     []state
	threads    []thread
	next       []int32
	stateIndex map[string]int32

	found closure
	key   []byte
}

// frame is the top of a stack: where to return to, or the turns of the
// counted loop at pc.
type frame struct{ pc, parent, turns int32 }

// thread is one way to read the text so far.
type thread struct{ pc, frame int32 }

type state struct {
	from, to int32
	complete bool
}

const (
	stateUnknown int32 = 0
	stateDead    int32 = -1

	bottom int32 = 0 // the frame below all others
)

// Limits of what a matcher remembers: some hundred kilobytes. Past them it
// forgets all but the present place.
const (
	maxFrames      = 1 << 15
	maxTransitions = 1 << 17
	maxThreads     = 1 << 16
)

// maxWays bounds the ways to read a text that are followed at once, for
// expressions that are ambiguous without end, like (a{0,999}){0,999}. Ways
// beyond it are given up: less is allowed then, but nothing that the grammar
// does not allow, and every way that remains can be completed.
const maxWays = 1 << 13

// Matcher returns a matcher at the start of a text.
func (g *Grammar) Matcher() *Matcher {
	m := &Matcher{g: g}
	m.forget()
	m.found.reset()
	m.close(g.start, bottom)
	m.current = m.intern()
	return m
}

// forget makes m empty. No state has the number that means unknown.
func (m *Matcher) forget() {
	m.frames = append(m.frames[:0:0], frame{})
	m.frameIndex = map[frame]int32{}
	m.states = append(m.states[:0:0], state{})
	m.threads = nil
	m.next = make([]int32, len(m.g.member))
	m.stateIndex = map[string]int32{}
}

// Allows reports whether the text may go on with b, which may begin and end
// inside a character.
func (m *Matcher) Allows(b []byte) bool { return m.walk(b) != stateDead }

// Accept goes on with b. Where b is not allowed it returns false and changes
// nothing.
func (m *Matcher) Accept(b []byte) bool {
	s := m.walk(b)
	if s == stateDead {
		return false
	}
	m.current = s
	return true
}

// Complete reports whether the text may end here.
func (m *Matcher) Complete() bool { return m.states[m.current].complete }

// Finished reports whether the text must end here: it is complete and
// nothing more is allowed.
func (m *Matcher) Finished() bool {
	s := m.states[m.current]
	return s.complete && s.from == s.to
}

// Clone returns a matcher at the same place, independent of m.
func (m *Matcher) Clone() *Matcher {
	c := &Matcher{g: m.g}
	c.moveTo(m)
	return c
}

// walk returns where b leads from the present place.
func (m *Matcher) walk(b []byte) int32 {
	if len(m.next) > maxTransitions || len(m.frames) > maxFrames || len(m.threads) > maxThreads {
		old := *m
		m.moveTo(&old)
	}
	s, width := m.current, len(m.g.member)
	for _, x := range b {
		at := int(s)*width + int(m.g.class[x])
		to := m.next[at]
		if to == stateUnknown {
			to = m.step(s, x)
			m.next[at] = to
		}
		if to == stateDead {
			return stateDead
		}
		s = to
	}
	return s
}

// step computes where a byte leads from state s.
func (m *Matcher) step(s int32, b byte) int32 {
	m.found.reset()
	from, to := m.states[s].from, m.states[s].to
	for _, t := range m.threads[from:to] {
		in := &m.g.prog[t.pc]
		if m.g.sets[in.x].has(b) {
			m.close(in.y, t.frame)
		}
	}
	return m.intern()
}

// close adds to m.found what can be reached from an instruction without
// reading.
func (m *Matcher) close(pc, top int32) {
	f := &m.found
	f.add(thread{pc, top})
	for len(f.todo) > 0 {
		t := f.todo[len(f.todo)-1]
		f.todo = f.todo[:len(f.todo)-1]
		in := &m.g.prog[t.pc]
		switch in.op {
		case opByte:
			f.reading = append(f.reading, t)
		case opSplit:
			f.add(thread{in.y, t.frame})
			f.add(thread{in.x, t.frame})
		case opCall:
			top := t.frame
			if in.y != pcRet { // a call at the end of a rule returns for it
				top = m.frame(frame{pc: in.y, parent: top})
			}
			f.add(thread{m.g.entries[in.x], top})
		case opRet:
			top := m.frames[t.frame]
			f.add(thread{top.pc, top.parent})
		case opEnter:
			loop := &m.g.prog[in.x]
			if loop.min == 0 {
				f.add(thread{loop.y, t.frame})
			}
			f.add(thread{loop.x, m.frame(frame{pc: in.x, parent: t.frame, turns: 1})})
		case opLoop:
			m.turn(in, m.frames[t.frame])
		case opMatch:
			f.complete = true
		}
	}
}

// turn ends one turn of a counted loop.
func (m *Matcher) turn(loop *instr, top frame) {
	if top.turns >= loop.min {
		m.found.add(thread{loop.y, top.parent})
	}
	switch {
	case loop.max < 0:
		top.turns = min(top.turns+1, loop.min) // beyond it, turns need no count
	case top.turns < loop.max:
		top.turns++
	default:
		return
	}
	m.found.add(thread{loop.x, m.frame(top)})
}

// frame returns the number of a frame; equal frames have the same.
func (m *Matcher) frame(f frame) int32 {
	if n, ok := m.frameIndex[f]; ok {
		return n
	}
	n := int32(len(m.frames))
	m.frames = append(m.frames, f)
	m.frameIndex[f] = n
	return n
}

// intern returns the number of the state that m.found describes; equal
// states have the same.
func (m *Matcher) intern() int32 {
	f := &m.found
	if len(f.reading) == 0 && !f.complete {
		return stateDead
	}
	slices.SortFunc(f.reading, func(a, b thread) int {
		if a.pc != b.pc {
			return int(a.pc - b.pc)
		}
		return int(a.frame - b.frame)
	})
	m.key = m.key[:0]
	for _, t := range f.reading {
		m.key = binary.LittleEndian.AppendUint32(m.key, uint32(t.pc))
		m.key = binary.LittleEndian.AppendUint32(m.key, uint32(t.frame))
	}
	if f.complete {
		m.key = append(m.key, 1)
	}
	if n, ok := m.stateIndex[string(m.key)]; ok {
		return n
	}
	n := int32(len(m.states))
	from := int32(len(m.threads))
	m.threads = append(m.threads, f.reading...)
	m.states = append(m.states, state{from, int32(len(m.threads)), f.complete})
	for range m.g.member {
		m.next = append(m.next, stateUnknown)
	}
	m.stateIndex[string(m.key)] = n
	return n
}

// moveTo makes m a matcher that knows the present place of old and nothing
// else.
func (m *Matcher) moveTo(old *Matcher) {
	place := old.states[old.current]
	reading := old.threads[place.from:place.to]
	used := make([]bool, len(old.frames))
	for _, t := range reading {
		for f := t.frame; f != bottom && !used[f]; f = old.frames[f].parent {
			used[f] = true
		}
	}
	m.forget()
	moved := make([]int32, len(old.frames))
	for i := 1; i < len(old.frames); i++ { // a parent is older than its children
		if used[i] {
			f := old.frames[i]
			f.parent = moved[f.parent]
			moved[i] = m.frame(f)
		}
	}
	m.found.reset()
	for _, t := range reading {
		m.found.reading = append(m.found.reading, thread{t.pc, moved[t.frame]})
	}
	m.found.complete = place.complete
	m.current = m.intern()
}

// closure collects what can be reached without reading.
type closure struct {
	reading  []thread // those that wait for a byte
	complete bool

	todo  []thread
	seen  []thread
	index map[thread]struct{} // of seen, where that is long
}

func (c *closure) reset() {
	c.reading, c.todo, c.seen = c.reading[:0], c.todo[:0], c.seen[:0]
	c.complete = false
	if len(c.index) > 0 {
		clear(c.index)
	}
}

// fewSeen is the length up to which looking through a list is faster than
// asking a map.
const fewSeen = 24

func (c *closure) add(t thread) {
	if len(c.seen) <= fewSeen {
		if slices.Contains(c.seen, t) {
			return
		}
	} else {
		if c.index == nil {
			c.index = make(map[thread]struct{}, 4*fewSeen)
		}
		if len(c.index) == 0 {
			for _, s := range c.seen {
				c.index[s] = struct{}{}
			}
		}
		if _, ok := c.index[t]; ok || len(c.seen) >= maxWays {
			return
		}
		c.index[t] = struct{}{}
	}
	c.seen = append(c.seen, t)
	c.todo = append(c.todo, t)
}
