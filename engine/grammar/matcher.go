package grammar

import "slices"

// Matcher follows one text through a grammar. Asking and going on both learn
// about the grammar, so a Matcher is for one goroutine at a time, also where
// it is only asked; [Matcher.Clone] makes another.
type Matcher struct {
	g       *Grammar
	current int32 // place in states

	frames     []frame
	frameIndex index

	// What is known of the places that texts can be in: the threads of
	// state i are threads[states[i].from:states[i].to], and byte class k
	// leads from it to next[i*len(g.member)+k].
	states     []state
	threads    []thread
	next       []int32
	unknown    []int32 // the transitions of a new state
	stateIndex index

	found closure
}

// frame is the top of a stack: where to return to, or the turns of the
// counted loop at pc.
type frame struct{ pc, parent, turns int32 }

// thread is one way to read the text so far.
type thread struct{ pc, frame int32 }

type state struct {
	from, to int32
	complete bool
	hash     uint64
}

const (
	stateUnknown int32 = 0
	stateDead    int32 = -1

	bottom int32 = 0 // the frame below all others
)

// Limits of what a matcher remembers: usually some hundred kilobytes. Past them it
// forgets all but the present place.
const (
	maxFrames      = 1 << 15
	maxTransitions = 1 << 17
	maxThreads     = 1 << 18
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
	m.frames = append(m.frames[:0], frame{})
	m.frameIndex.reset()
	m.states = append(m.states[:0], state{})
	m.threads = m.threads[:0]
	m.unknown = append(m.unknown[:0], make([]int32, len(m.g.member))...)
	m.next = append(m.next[:0], m.unknown...)
	m.stateIndex.reset()
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
	c.restart(m.place())
	return c
}

// walk returns where b leads from the present place.
func (m *Matcher) walk(b []byte) int32 {
	if len(m.next) > maxTransitions || len(m.frames) > maxFrames || len(m.threads) > maxThreads {
		m.restart(m.place())
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
	class := int32(m.g.class[b])
	from, to := m.states[s].from, m.states[s].to
	for _, t := range m.threads[from:to] {
		switch in := &m.g.prog[t.pc]; {
		case in.op == opTable:
			if pc := m.g.rows[in.x+class]; pc != pcFail {
				m.close(pc, t.frame)
			}
		case m.g.sets[in.x].has(b):
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
		case opByte, opTable:
			f.reading = append(f.reading, t)
		case opSplit:
			f.add(thread{in.y, t.frame})
			f.add(thread{in.x, t.frame})
		case opFork:
			for _, pc := range m.g.forks[in.x:in.y] {
				f.add(thread{pc, t.frame})
			}
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
	slot := m.frameIndex.at(f.hash())
	for m.frameIndex.slots[slot] != 0 {
		if n := m.frameIndex.slots[slot]; m.frames[n] == f {
			return n
		}
		slot = m.frameIndex.behind(slot)
	}
	n := int32(len(m.frames))
	m.frames = append(m.frames, f)
	m.frameIndex.put(slot, n, func(n int32) uint64 { return m.frames[n].hash() })
	return n
}

// intern returns the number of the state that m.found describes. Equal
// states have the same; the order of the threads makes a difference, but
// where a text loops it is the same in every turn.
func (m *Matcher) intern() int32 {
	f := &m.found
	if len(f.reading) == 0 && !f.complete {
		return stateDead
	}
	hash := mix(0, int32(len(f.reading)), 0)
	for _, t := range f.reading {
		hash = mix(hash, t.pc, t.frame)
	}
	slot := m.stateIndex.at(hash)
	for m.stateIndex.slots[slot] != 0 {
		n := m.stateIndex.slots[slot]
		if s := m.states[n]; s.hash == hash && s.complete == f.complete && slices.Equal(m.threads[s.from:s.to], f.reading) {
			return n
		}
		slot = m.stateIndex.behind(slot)
	}
	n := int32(len(m.states))
	from := int32(len(m.threads))
	m.threads = append(m.threads, f.reading...)
	m.states = append(m.states, state{from, int32(len(m.threads)), f.complete, hash})
	m.next = append(m.next, m.unknown...)
	m.stateIndex.put(slot, n, func(n int32) uint64 { return m.states[n].hash })
	return n
}

// place is where a text is, without what was learned on the way.
type place struct {
	frames   []frame // above bottom, parents first
	reading  []thread
	complete bool
}

// place returns the present place, with frames numbered from 1.
func (m *Matcher) place() place {
	s := m.states[m.current]
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
}
