package grammar

import "slices"

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
