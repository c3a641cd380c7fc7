package format

import (
	"bytes"
	"slices"
)

// meaning is what a mark in the output stands for.
type meaning int

const (
	meansReasoning    meaning = iota // reasoning begins
	meansReasoningEnd                // reasoning ends
	meansCall                        // a tool call may begin
	meansMessage                     // the next message of an answer begins
	meansNothing                     // structure that is not shown
	meansEnd                         // the model spelled out the end of its turn
)

// mark is a string that the scanner looks for, and what it means.
type mark struct {
	text  string
	means meaning
}

// marks finds the first of several marks in text that arrives in pieces.
type marks struct {
	list  []mark // longest first
	first [256]bool
}

func newMarks(list []mark) *marks {
	m := &marks{}
	for _, k := range list {
		if k.text == "" {
			continue
		}
		m.list = append(m.list, k)
		m.first[k.text[0]] = true
	}
	slices.SortStableFunc(m.list, func(a, b mark) int { return len(b.text) - len(a.text) })
	return m
}

// find returns where the first mark of b begins, and that mark. A nil mark
// means that none is complete: what comes before the returned place is free of
// marks, what comes after it may become one. A longer mark that is still
// possible wins over a shorter one, so that the answer does not depend on how
// the text was cut. With final set nothing more comes, and nothing is held.
func (m *marks) find(b []byte, final bool) (int, *mark) {
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

// verdict is an answer about text of which more may come.
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

// spaces counts the white space that b begins with.
func spaces(b []byte) int {
	return len(b) - len(bytes.TrimLeft(b, " \t\r\n"))
}

// skim counts the bytes of set that b begins with.
func skim(b []byte, set string) int {
	return len(b) - len(bytes.TrimLeft(b, set))
}
