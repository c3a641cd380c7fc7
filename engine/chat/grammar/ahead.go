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
