package format

import (
	"bytes"
	"strings"

	"github.com/diglot/diglot/engine"
)

// textBuffer holds back the end of a text that is not yet safe to show: the
// beginning of a character, of a stop string, and white space that markup
// behind it may swallow.
type textBuffer struct {
	stops     []string // texts that end the answer; empty ones are not allowed
	holdSpace bool     // hold white space at the end
	held      []byte
}

// add takes more text and returns what may be shown. Where a stop string is
// complete, it returns the text before it and the string, which stays held; of
// several the one that was complete first, then the longest, as if each byte
// came alone.
func (t *textBuffer) add(b []byte) (show, stop string) {
	old := len(t.held)
	t.held = append(t.held, b...)
	if at, stop := t.stop(old); stop != "" {
		return engine.DecodeText(t.cut(at)), stop
	}
	return engine.DecodeText(t.cut(t.safe())), ""
}

// rest returns what was held: nothing more comes.
func (t *textBuffer) rest() string { return engine.DecodeText(t.cut(len(t.held))) }

// trimmed returns what was held but for white space at the end.
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

// stop finds the stop string that ends first. All of them end behind the
// first old bytes, which were searched before.
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

// safe is how much of the held text may be shown.
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
