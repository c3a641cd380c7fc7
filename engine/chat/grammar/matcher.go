package grammar

import (
	"errors"
	"slices"
)

// Matcher follows one text through a grammar. Asking and going on both learn
// about the grammar, so a Matcher is for one goroutine at a time, also where
// it is only asked; [Matcher.Clone] makes another.
//
// What it learns costs work, which is bounded: see [ErrTooMuchWork].
type Matcher struct {
	g       *Grammar
	current int32 // place in states
	fuel    int   // work that is left; negative: the matcher has given up
	meter   *meter

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
	room       int // entries of frames, threads and next before it forgets

	found closure
}

// frame is the top of a stack: where to return to, or the turns of the
// counted loop at pc.
type frame struct{ pc, parent, turns int32 }

func (f frame) hash() uint64 { return mix(mix(0, f.pc, f.turns), f.parent, 1) }

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

// maxKnown is how many entries a matcher has room for: usually some hundred
// kilobytes, at most some megabytes. Past it, it forgets all but the present
// place.
const maxKnown = 1 << 17

// maxWays bounds the ways to read a text that are followed at once, for
// expressions that are ambiguous without end, like (a{0,999}){0,999}. Ways
// beyond it are given up: less is allowed then, but nothing that the grammar
// does not allow, and every way that remains can be completed.
const maxWays = 1 << 13

// ErrTooMuchWork says that a grammar is too ambiguous to follow a text
// through it: a matcher that has given up allows nothing more.
var ErrTooMuchWork = errors.New("grammar: there are too many ways to read the text")

// The work of a matcher, in threads looked at, some ten nanoseconds each. A
// text in a usual schema takes some hundred for each token.
const (
	maxFuel  = 2_000_000 // at once, such as for a look at all tokens of a vocabulary
	perToken = 100_000   // more with each accepted piece, up to maxFuel
)

// Matcher returns a matcher at the start of a text.
func (g *Grammar) Matcher() *Matcher { return g.matcher(nil) }

// matcher returns a matcher that counts on m, if that is given, besides its
// own bounds.
func (g *Grammar) matcher(meter *meter) *Matcher {
	m := &Matcher{g: g, fuel: maxFuel, meter: meter, room: maxKnown}
	m.forget()
	m.found.reset()
	m.close(g.start, bottom)
	m.current = m.intern()
	if m.burn(m.found.work); m.fuel < 0 {
		m.giveUp()
	}
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

// Err is [ErrTooMuchWork] once the matcher has given up, else nil.
func (m *Matcher) Err() error {
	if m.fuel < 0 {
		return ErrTooMuchWork
	}
	return nil
}

// burn uses up fuel.
func (m *Matcher) burn(work int) {
	m.fuel -= work
	m.meter.spend(work/4, work*matchBytes+len(m.unknown)*nextBytes)
}

// What a matcher allocates for each thread that it looks at, and for each
// transition of a new state.
const (
	matchBytes = 64
	nextBytes  = 16
)

// Allows reports whether the text may go on with b, which may begin and end
// inside a character.
func (m *Matcher) Allows(b []byte) bool {
	s, start := m.walk(b)
	if start != nil {
		m.restart(*start)
	}
	return s != stateDead
}

// Accept goes on with b. Where b is not allowed it returns false and changes
// nothing.
func (m *Matcher) Accept(b []byte) bool {
	s, start := m.walk(b)
	if s == stateDead {
		if start != nil {
			m.restart(*start)
		}
		return false
	}
	m.current = s
	if m.fuel >= 0 {
		m.fuel = min(m.fuel+perToken, maxFuel)
	}
	return true
}

// whole reports whether a whole text is b. The matcher stays where it is.
func (m *Matcher) whole(b []byte) bool {
	s, start := m.walk(b)
	yes := s != stateDead && m.states[s].complete
	if start != nil {
		m.restart(*start)
	}
	return yes
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
	c := &Matcher{g: m.g, fuel: m.fuel, meter: m.meter}
	c.restart(m.place(m.current))
	return c
}

// walk returns where b leads from the present place. Where the matcher had to
// forget on the way, start is the present place, which is not known any more.
func (m *Matcher) walk(b []byte) (to int32, start *place) {
	s, width := m.current, len(m.g.member)
	for i, x := range b {
		to := m.next[int(s)*width+int(m.g.class[x])]
		if to == stateUnknown {
			return m.explore(s, b[i:])
		}
		if to == stateDead {
			return stateDead, nil
		}
		s = to
	}
	return s, nil
}

// explore is the rest of walk, from state s on, where not all is known.
func (m *Matcher) explore(s int32, b []byte) (to int32, start *place) {
	for _, x := range b {
		class := int(m.g.class[x])
		to := m.next[int(s)*len(m.g.member)+class]
		if to == stateUnknown {
			if m.known() > m.room {
				if start == nil {
					start = new(m.place(m.current))
				}
				m.restart(m.place(s))
				s = m.current
			}
			to = m.step(s, x)
			m.next[int(s)*len(m.g.member)+class] = to
		}
		if to == stateDead {
			return stateDead, start
		}
		s = to
	}
	return s, start
}

// known is how many entries the matcher holds.
func (m *Matcher) known() int { return len(m.frames) + len(m.threads) + len(m.next) }

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
	if m.burn(m.found.work + int(to-from)); m.fuel < 0 {
		m.giveUp()
		return stateDead
	}
	return m.intern()
}

// giveUp makes all places dead ends.
func (m *Matcher) giveUp() {
	for i := range m.next {
		m.next[i] = stateDead
	}
}

// close adds to m.found what can be reached from an instruction without
// reading.
func (m *Matcher) close(pc, top int32) {
	f := &m.found
	f.add(thread{pc, top})
	for len(f.todo) > 0 && f.work <= m.fuel {
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
			loop := &m.g.loops[m.g.prog[in.x].x]
			if loop.min == 0 {
				f.add(thread{loop.next, t.frame})
			}
			f.add(thread{loop.turn, m.frame(frame{pc: in.x, parent: t.frame, turns: 1})})
		case opLoop:
			m.turn(&m.g.loops[in.x], m.frames[t.frame])
		case opMatch:
			f.complete = true
		}
	}
}

// turn ends one turn of a counted loop.
func (m *Matcher) turn(l *loop, top frame) {
	if top.turns >= l.min {
		m.found.add(thread{l.next, top.parent})
	}
	switch {
	case l.max < 0:
		top.turns = min(top.turns+1, l.min) // beyond it, turns need no count
	case top.turns < l.max:
		top.turns++
	default:
		return
	}
	m.found.add(thread{l.turn, m.frame(top)})
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
