package format

import (
	"bytes"
	"strings"

	"github.com/diglot/diglot/engine"
)

// textBuffer holds back the end of a text that cannot be sent yet: an incomplete
// character, a possible stop string, and white space that belongs to markup if
// that follows.
type textBuffer struct {
	stops     []string // stop strings, none of them empty
	holdSpace bool     // hold trailing white space
	held      []byte
}

// add appends text and returns what may be sent. At a stop string it returns the
// text before it and the string, which stays held. Of several it is the one that
// ends first, then the longest, as if the text came byte by byte.
func (t *textBuffer) add(b []byte) (show, stop string) {
	old := len(t.held)
	t.held = append(t.held, b...)
	if at, stop := t.stop(old); stop != "" {
		return engine.DecodeText(t.cut(at)), stop
	}
	return engine.DecodeText(t.cut(t.safe())), ""
}

// rest returns the held text.
func (t *textBuffer) rest() string { return engine.DecodeText(t.cut(len(t.held))) }

// trimmed returns the held text without trailing white space.
func (t *textBuffer) trimmed() string {
	show := engine.DecodeText(bytes.TrimRight(t.held, " \t\r\n"))
	t.held = t.held[:0]
	return show
}

func (t *textBuffer) cut(n int) []byte {
	b := t.held[:n]
	t.held = t.held[n:]
	return b
}

// stop finds the stop string that ends first. The first old bytes were searched
// before.
func (t *textBuffer) stop(old int) (at int, stop string) {
	end := len(t.held) + 1
	for _, s := range t.stops {
		from := max(0, old-len(s)+1)
		i := bytes.Index(t.held[from:], []byte(s))
		if i < 0 {
			continue
		}
		if e := from + i + len(s); e < end || e == end && len(s) > len(stop) {
			at, end, stop = from+i, e, s
		}
	}
	return at, stop
}

// safe is how many bytes of the held text may be sent.
func (t *textBuffer) safe() int {
	n := engine.WholeChars(t.held)
	if t.holdSpace {
		n = min(n, len(bytes.TrimRight(t.held, " \t\r\n")))
	}
	for _, s := range t.stops {
		for i := max(0, len(t.held)-len(s)+1); i < n; i++ {
			if strings.HasPrefix(s, string(t.held[i:])) {
				n = i
			}
		}
	}
	return n
}
