package terminal

// line is an edited text and the position of the cursor.
type line struct {
	clusters []cluster
	at       int // the cursor is before this one
}

// String is the text.
func (l *line) String() string { return join(l.clusters) }

// set sets the text, with the cursor between the two parts.
func (l *line) set(before, after string) {
	l.clusters, l.at = split(before+after), 0
	for n := 0; n < len(before); l.at++ {
		n += len(l.clusters[l.at].text)
	}
}

// insert may merge clusters: accents and parts of emoji are typed one by one.
func (l *line) insert(text string) {
	if l.at < len(l.clusters) {
		l.set(join(l.clusters[:l.at])+text, join(l.clusters[l.at:]))
		return
	}
	// Usually at the end, where only the last cluster can change.
	if l.at > 0 {
		l.at--
		text = l.clusters[l.at].text + text
	}
	l.clusters = append(l.clusters[:l.at], split(text)...)
	l.at = len(l.clusters)
}

// remove deletes a range and moves the cursor there.
func (l *line) remove(from, to int) {
	if to == len(l.clusters) {
		l.clusters, l.at = l.clusters[:from], from
		return
	}
	l.set(join(l.clusters[:from]), join(l.clusters[to:]))
}

// before is the start of the word at or before the cursor.
func (l *line) before() int {
	at := l.at
	for at > 0 && l.clusters[at-1].text == " " {
		at--
	}
	for at > 0 && l.clusters[at-1].text != " " {
		at--
	}
	return at
}

// after is the start of the next word.
func (l *line) after() int {
	at := l.at
	for at < len(l.clusters) && l.clusters[at].text != " " {
		at++
	}
	for at < len(l.clusters) && l.clusters[at].text == " " {
		at++
	}
	return at
}

// transpose swaps the characters around the cursor, or the last two.
func (l *line) transpose() {
	at := min(l.at, len(l.clusters)-1)
	if at < 1 {
		return
	}
	swapped := l.clusters[at].text + l.clusters[at-1].text
	l.set(join(l.clusters[:at-1])+swapped, join(l.clusters[at+1:]))
}

// edits are the editing keys. Terminals differ in their sequences.
var edits = map[string]func(*line){
	"\t": func(*line) {},

	"\x01": (*line).home, "\x1b[H": (*line).home, "\x1bOH": (*line).home, "\x1b[1~": (*line).home, "\x1b[7~": (*line).home,
	"\x05": (*line).end, "\x1b[F": (*line).end, "\x1bOF": (*line).end, "\x1b[4~": (*line).end, "\x1b[8~": (*line).end,
	"\x02": (*line).left, "\x1b[D": (*line).left, "\x1bOD": (*line).left,
	"\x06": (*line).right, "\x1b[C": (*line).right, "\x1bOC": (*line).right,
	"\x1b[1;3D": (*line).wordLeft, "\x1b[1;5D": (*line).wordLeft,
	"\x1b[1;3C": (*line).wordRight, "\x1b[1;5C": (*line).wordRight,

	"\x7f": (*line).backspace, "\x08": (*line).backspace,
	"\x1b[3~": (*line).deleteNext, "\x04": (*line).deleteNext,
	"\x0b": func(l *line) { l.remove(l.at, len(l.clusters)) },
	"\x15": func(l *line) { l.remove(0, l.at) },
	"\x17": func(l *line) { l.remove(l.before(), l.at) },
	"\x14": (*line).transpose,
}

func (l *line) home()      { l.at = 0 }
func (l *line) end()       { l.at = len(l.clusters) }
func (l *line) left()      { l.at = max(l.at-1, 0) }
func (l *line) right()     { l.at = min(l.at+1, len(l.clusters)) }
func (l *line) wordLeft()  { l.at = l.before() }
func (l *line) wordRight() { l.at = l.after() }

func (l *line) backspace()  { l.remove(max(l.at-1, 0), l.at) }
func (l *line) deleteNext() { l.remove(l.at, min(l.at+1, len(l.clusters))) }
