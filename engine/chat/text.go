package chat

import (
	"bytes"
	"strings"
	"unicode/utf8"
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
		return valid(t.cut(at)), stop
	}
	return valid(t.cut(t.safe())), ""
}

// rest returns what was held: nothing more comes.
func (t *textBuffer) rest() string { return valid(t.cut(len(t.held))) }

// trimmed returns what was held but for white space at the end.
func (t *textBuffer) trimmed() string {
	show := valid(bytes.TrimRight(t.held, " \t\r\n"))
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
	n := wholeRunes(t.held)
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

// wholeRunes is the length of b without the beginning of a character at its
// end. Bytes that can never become one are not held.
func wholeRunes(b []byte) int {
	for i := len(b) - 1; i >= 0 && i >= len(b)-utf8.UTFMax; i-- {
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				return i
			}
			break
		}
	}
	return len(b)
}

// valid makes text of bytes: each that is no part of a character becomes
// U+FFFD.
func valid(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	return string([]rune(string(b)))
}
