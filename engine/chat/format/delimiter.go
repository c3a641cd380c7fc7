package format

import (
	"bytes"
	"slices"
)

// meaning is what a delimiter in the output stands for.
type meaning int

const (
	meansReasoning    meaning = iota // reasoning begins
	meansReasoningEnd                // reasoning ends
	meansCall                        // a tool call may begin
	meansMessage                     // the next message of an answer begins
	meansNothing                     // to be removed
	meansEnd                         // the turn ends
)

// delimiter is a string that the scanner searches for.
type delimiter struct {
	text  string
	means meaning
}

// delimiters finds the first of several delimiters in streamed text.
type delimiters struct {
	list  []delimiter // longest first
	first [256]bool
}

func newDelimiters(list []delimiter) *delimiters {
	m := &delimiters{}
	for _, k := range list {
		if k.text == "" {
			continue
		}
		m.list = append(m.list, k)
		m.first[k.text[0]] = true
	}
	slices.SortStableFunc(m.list, func(a, b delimiter) int { return len(b.text) - len(a.text) })
	return m
}

// find returns the first delimiter in b and its offset. If it is nil, the text
// before the offset contains none, and the rest may become one. A longer
// delimiter that is still possible wins over a shorter one, so that the result
// does not depend on token boundaries. final: b is the end of the output.
func (m *delimiters) find(b []byte, final bool) (int, *delimiter) {
	for i, c := range b {
		if !m.first[c] {
			continue
		}
		for k := range m.list {
			switch begins(b[i:], m.list[k].text) {
			case yes:
				return i, &m.list[k]
			case perhaps:
				if !final {
					return i, nil
				}
			}
		}
	}
	return len(b), nil
}

// verdict is the result of matching incomplete text; perhaps: more is needed.
type verdict int

const (
	no verdict = iota
	perhaps
	yes
)

// begins reports whether b begins with s.
func begins(b []byte, s string) verdict {
	switch {
	case len(b) >= len(s):
		if string(b[:len(s)]) == s {
			return yes
		}
	case string(b) == s[:len(b)]:
		return perhaps
	}
	return no
}

// spaces counts the leading white space of b.
func spaces(b []byte) int { return skim(b, " \t\r\n") }

// skim counts the leading bytes of b that are in set.
func skim(b []byte, set string) int {
	return len(b) - len(bytes.TrimLeft(b, set))
}
