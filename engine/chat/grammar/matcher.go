package grammar

import (
	"errors"
	"slices"
)

// Matcher matches one text incrementally. All methods update its caches, so it is not
// safe for concurrent use; see [Matcher.Clone]. Its work is bounded: see
// [ErrTooMuchWork].
type Matcher struct {
	g       *Grammar
	current int32 // index into states
	fuel    int   // remaining work; negative: it has given up
	meter   *meter

	frames     []frame
	frameIndex index

	// The cached states: those of state i are threads[states[i].from:states[i].to], and
	// its transition by byte class k is next[i*len(g.member)+k].
	states     []state
	threads    []thread
	next       []int32
	unknown    []int32 // the transitions of a new state
	stateIndex index
	room       int // entries of frames, threads and next before the cache is reset

	found closure
}

// frame is the top of a stack: a return address, or the iterations of the counted loop
// at pc.
type frame struct{ pc, parent, turns int32 }

func (f frame) hash() uint64 { return mix(mix(0, f.pc, f.turns), f.parent, 1) }

// thread is one way to parse the text so far.
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

// maxKnown limits the cache of a matcher: usually to some hundred kilobytes, at most to
// some megabytes. Beyond it, all but the current state is dropped.
const maxKnown = 1 << 17

// maxThreads limits the threads of a state, for expressions as ambiguous as
// (a{0,999}){0,999}. Dropping threads allows less than the grammar does, never more, and
// the remaining ones can be completed.
const maxThreads = 1 << 13

// ErrTooMuchWork is the error of a matcher that has given up on a text that is too
// ambiguous. It then allows nothing.
var ErrTooMuchWork = errors.New("grammar: the text is too ambiguous")

// The work of a matcher, in threads of some ten nanoseconds. With usual schemas, a token
// takes some hundred.
const (
	maxFuel  = 2_000_000 // such as for matching a whole vocabulary
	perToken = 100_000   // added with each accepted token, up to maxFuel
)

// Matcher returns a matcher at the start of a text.
func (g *Grammar) Matcher() *Matcher { return g.matcher(nil) }

// matcher returns a matcher that also counts on meter, unless that is nil.
func (g *Grammar) matcher(meter *meter) *Matcher {
	m := &Matcher{g: g, fuel: maxFuel, meter: meter, room: maxKnown}
	m.reset()
	m.found.reset()
	m.close(g.start, bottom)
	m.current = m.intern()
	if m.burn(m.found.work); m.fuel < 0 {
		m.giveUp()
	}
	return m
}

// reset clears the caches. State 0 is reserved for stateUnknown.
func (m *Matcher) reset() {
	m.frames = append(m.frames[:0], frame{})
	m.frameIndex.reset()
	m.states = append(m.states[:0], state{})
	m.threads = m.threads[:0]
	m.unknown = append(m.unknown[:0], make([]int32, len(m.g.member))...)
	m.next = append(m.next[:0], m.unknown...)
	m.stateIndex.reset()
}

// Err is [ErrTooMuchWork] once the matcher has given up.
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

// Memory of a matcher per thread, and per transition of a new state.
const (
	matchBytes = 64
	nextBytes  = 16
)

// Allows reports whether the text may continue with b, which need not be whole
// characters.
func (m *Matcher) Allows(b []byte) bool {
	s, start := m.walk(b)
	if start != nil {
		m.restore(*start)
	}
	return s != stateDead
}

// Accept appends b to the text. If b is not allowed it returns false and changes nothing.
func (m *Matcher) Accept(b []byte) bool {
	s, start := m.walk(b)
	if s == stateDead {
		if start != nil {
			m.restore(*start)
		}
		return false
	}
	m.current = s
	if m.fuel >= 0 {
		m.fuel = min(m.fuel+perToken, maxFuel)
	}
	return true
}

// whole reports whether the text may be completed by b. It does not change the state.
func (m *Matcher) whole(b []byte) bool {
	s, start := m.walk(b)
	yes := s != stateDead && m.states[s].complete
	if start != nil {
		m.restore(*start)
	}
	return yes
}

// Complete reports whether the text may end here.
func (m *Matcher) Complete() bool { return m.states[m.current].complete }

// Finished reports whether the text is complete and must end here.
func (m *Matcher) Finished() bool {
	s := m.states[m.current]
	return s.complete && s.from == s.to
}

// Clone returns an independent matcher in the same state.
func (m *Matcher) Clone() *Matcher {
	c := &Matcher{g: m.g, fuel: m.fuel, meter: m.meter}
	c.restore(m.snapshot(m.current))
	return c
}

// walk returns the state after b. If the cache was reset on the way, start is a snapshot
// of the current state.
func (m *Matcher) walk(b []byte) (to int32, start *snapshot) {
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

// explore is the slow path of walk, from state s on.
func (m *Matcher) explore(s int32, b []byte) (to int32, start *snapshot) {
	for _, x := range b {
		class := int(m.g.class[x])
		to := m.next[int(s)*len(m.g.member)+class]
		if to == stateUnknown {
			if m.known() > m.room {
				if start == nil {
					start = new(m.snapshot(m.current))
				}
				m.restore(m.snapshot(s))
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

// known is the number of cached entries.
func (m *Matcher) known() int { return len(m.frames) + len(m.threads) + len(m.next) }

// step computes the transition of state s by a byte.
func (m *Matcher) step(s int32, b byte) int32 {
	if m.burn(m.reach(s, b)); m.fuel < 0 {
		m.giveUp()
		return stateDead
	}
	return m.intern()
}

// reach finds the threads of state s after a byte. It returns the work.
func (m *Matcher) reach(s int32, b byte) int {
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
	return m.found.work + int(to-from)
}

// giveUp makes all states dead ends.
func (m *Matcher) giveUp() {
	for i := range m.next {
		m.next[i] = stateDead
	}
}

// close adds the epsilon closure of an instruction to m.found.
func (m *Matcher) close(pc, top int32) {
	f := &m.found
	f.add(thread{pc, top})
	for len(f.todo) > 0 && f.work <= m.fuel {
		t := f.todo[len(f.todo)-1]
		f.todo = f.todo[:len(f.todo)-1]
		in := &m.g.prog[t.pc]
		switch in.op {
		case opByte, opTable:
			f.waiting = append(f.waiting, t)
		case opSplit:
			f.add(thread{in.y, t.frame})
			f.add(thread{in.x, t.frame})
		case opFork:
			for _, pc := range m.g.forks[in.x:in.y] {
				f.add(thread{pc, t.frame})
			}
		case opCall:
			top := t.frame
			if in.y != pcRet { // a tail call needs no frame
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

// turn ends an iteration of a counted loop.
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
		slot = m.frameIndex.next(slot)
	}
	n := int32(len(m.frames))
	m.frames = append(m.frames, f)
	m.frameIndex.put(slot, n, func(n int32) uint64 { return m.frames[n].hash() })
	return n
}

// intern returns the number of the state in m.found. Equal states have the same number.
// The order of threads counts, but in a loop it is the same in each iteration.
func (m *Matcher) intern() int32 {
	f := &m.found
	if len(f.waiting) == 0 && !f.complete {
		return stateDead
	}
	hash := mix(0, int32(len(f.waiting)), 0)
	for _, t := range f.waiting {
		hash = mix(hash, t.pc, t.frame)
	}
	slot := m.stateIndex.at(hash)
	for m.stateIndex.slots[slot] != 0 {
		n := m.stateIndex.slots[slot]
		if s := m.states[n]; s.hash == hash && s.complete == f.complete && slices.Equal(m.threads[s.from:s.to], f.waiting) {
			return n
		}
		slot = m.stateIndex.next(slot)
	}
	n := int32(len(m.states))
	from := int32(len(m.threads))
	m.threads = append(m.threads, f.waiting...)
	m.states = append(m.states, state{from, int32(len(m.threads)), f.complete, hash})
	m.next = append(m.next, m.unknown...)
	m.stateIndex.put(slot, n, func(n int32) uint64 { return m.states[n].hash })
	return n
}
