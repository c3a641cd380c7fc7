package grammar

// lookahead limits the work of one call of [Matcher.Ahead], in threads.
const lookahead = perToken / 4

// Ahead appends to text what must follow it, up to most bytes: as long as the grammar
// allows one byte alone. White space that is optional before that byte is what blank
// returns, or none if the grammar does not allow it.
//
// It changes neither the state nor what the matcher may still spend.
func (m *Matcher) Ahead(text []byte, most int, blank func(text []byte, next byte) string) []byte {
	a := ahead{Matcher: m, at: m.current, work: lookahead}
	for most += len(text); len(text) < most; {
		next, optional, ok := a.only()
		if !ok {
			break
		}
		if optional {
			space := blank(text, next)
			if to := a.to(a.at, space); to != stateDead && a.step(to, next) != stateDead {
				text, a.at = append(text, space...), to
			}
		}
		to := a.step(a.at, next)
		if to == stateDead {
			break
		}
		text, a.at = append(text, next), to
	}
	return text
}

// ahead is a walk ahead of the text.
type ahead struct {
	*Matcher
	at   int32 // the state
	work int   // that is left
}

// only returns the one byte that the text must go on with. optional reports whether
// white space may come before it.
func (a *ahead) only() (next byte, optional, ok bool) {
	if a.states[a.at].complete {
		return 0, false, false
	}
	blanks, others := 0, 0
	var blank byte
	for b := range 256 {
		if b := byte(b); a.step(a.at, b) != stateDead {
			if isBlank(b) {
				blank = b
				blanks++
				continue
			}
			next = b
			if others++; others > 1 {
				return 0, false, false
			}
		}
	}
	switch {
	case a.work < 0: // some bytes were not looked at
		return 0, false, false
	case others == 1:
		return next, blanks > 0, true
	}
	return blank, false, blanks == 1
}

func isBlank(b byte) bool { return b == ' ' || b == '\t' || b == '\n' || b == '\r' }

// to returns the state after a text.
func (a *ahead) to(s int32, text string) int32 {
	for i := range len(text) {
		if s = a.step(s, text[i]); s == stateDead {
			break
		}
	}
	return s
}

// step is [Matcher.step] on work of its own. Once that is used up, or the cache is full,
// all unknown states are dead ends.
func (a *ahead) step(s int32, b byte) int32 {
	at := int(s)*len(a.g.member) + int(a.g.class[b])
	if to := a.next[at]; to != stateUnknown {
		return to
	}
	if a.work < 0 || a.known() > a.room {
		a.work = -1
		return stateDead
	}
	fuel := a.fuel
	a.fuel = min(fuel, a.work)
	a.work -= a.reach(s, b)
	a.fuel = fuel
	if a.work < 0 || fuel < 0 {
		a.work = -1
		return stateDead
	}
	to := a.intern()
	a.next[at] = to
	return to
}

// Follows returns how many bytes of text may follow, as far as a limited walk ahead
// shows. It changes as little as [Matcher.Ahead].
func (m *Matcher) Follows(text []byte) int {
	a := ahead{Matcher: m, work: lookahead}
	s := m.current
	for i, b := range text {
		if s = a.step(s, b); s == stateDead {
			return i
		}
	}
	return len(text)
}

// Walk tells what may follow a text, and what then. Like [Matcher.Ahead] it changes
// neither the state nor what the matcher may still spend. It ends with the next call of
// another method of the matcher.
//
// Its own work is limited. What it tells depends on the text alone, not on which
// transitions are cached.
type Walk struct {
	m    *Matcher
	at   int32
	work int // that is left
}

// walkWork is the work of a walk: some threads and transitions for each byte.
const walkWork = 200_000

// Walk starts at the end of the text.
func (m *Matcher) Walk() *Walk {
	if m.known() > m.room {
		m.restore(m.snapshot(m.current))
	}
	w := &Walk{m: m, at: m.current, work: walkWork}
	if m.fuel < 0 {
		w.work = -1
	}
	return w
}

// Allows reports whether text may follow.
func (w *Walk) Allows(text []byte) bool { return w.to(text) != stateDead }

// Follow goes on behind text, with new work. It returns false if text may not follow.
func (w *Walk) Follow(text []byte) bool {
	to := w.to(text)
	if to == stateDead {
		return false
	}
	w.at, w.work = to, walkWork
	return true
}

// Complete reports whether the text may end here.
func (w *Walk) Complete() bool { return w.m.states[w.at].complete }

// Spent reports whether the walk's work is used up, so that it knows no more.
func (w *Walk) Spent() bool { return w.work < 0 }

func (w *Walk) to(text []byte) int32 {
	s := w.at
	for _, b := range text {
		if s = w.step(s, b); s == stateDead {
			break
		}
	}
	return s
}

func (w *Walk) step(s int32, b byte) int32 {
	m, width := w.m, len(w.m.g.member)
	at := int(s)*width + int(m.g.class[b])
	if m.next[at] == stateUnknown {
		fuel := m.fuel
		m.fuel = lookahead
		tooMuch := m.reach(s, b) > lookahead
		m.fuel = fuel
		if tooMuch {
			w.work = -1
			return stateDead
		}
		to := m.intern()
		m.next[at] = to
	}
	to := m.next[at]
	w.work -= 1 + int(m.states[s].to-m.states[s].from)
	if to != stateDead {
		w.work -= int(m.states[to].to-m.states[to].from) + width/8
	}
	if w.work < 0 {
		return stateDead
	}
	return to
}
