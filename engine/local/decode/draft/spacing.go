package draft

import (
	"bytes"
	"strings"
)

// Spacing is the style of white space in JSON: what a text last had between two bytes.
// Indentation is relative to the line above.
type Spacing struct {
	seen   [sorts * sorts]space
	sure   [sorts * sorts]bool // seen in this text
	before byte                // the last byte that is no white space
	blank  []byte              // white space behind it
	indent int                 // of the current line
}

// space is white space: some on the line, or new lines and how far the last of them is
// indented beyond the line above.
type space struct {
	line   string
	lines  string // ends with a newline, or is empty
	deeper int
}

// structural are the bytes that white space depends on; all others are one sort.
const (
	structural = `{}[]:,"`
	sorts      = len(structural) + 1
)

// maxBlank is the longest white space that is remembered.
const maxBlank = 40

func sort(b byte) int {
	if i := strings.IndexByte(structural, b); i >= 0 {
		return i
	}
	return sorts - 1
}

func pair(before, next byte) int { return sort(before)*sorts + sort(next) }

// NewSpacing returns the style of compact JSON on one line.
func NewSpacing() *Spacing {
	s := &Spacing{}
	for i := range sorts {
		s.seen[sort(':')*sorts+i].line = " "
		s.seen[sort(',')*sorts+i].line = " "
	}
	return s
}

// Begin returns the style of a new text.
func (s *Spacing) Begin() *Spacing { return &Spacing{seen: s.seen} }

// Read continues the text.
func (s *Spacing) Read(text []byte) {
	for _, b := range text {
		if isBlank(b) {
			if len(s.blank) <= maxBlank {
				s.blank = append(s.blank, b)
			}
			continue
		}
		s.learn(b)
		s.before, s.blank = b, s.blank[:0]
	}
}

// learn remembers the white space in front of b.
func (s *Spacing) learn(b byte) {
	at := pair(s.before, b)
	if s.before == 0 || len(s.blank) > maxBlank || at == len(s.seen)-1 {
		return
	}
	now := space{line: string(s.blank)}
	if i := bytes.LastIndexByte(s.blank, '\n'); i >= 0 {
		indent := len(s.blank) - i - 1
		now = space{lines: string(s.blank[:i+1]), deeper: indent - s.indent}
		s.indent = indent
	}
	first := !s.sure[at]
	s.seen[at], s.sure[at] = now, true
	if first && s.before == '{' && b == '"' {
		s.assume(now)
	}
}

// assume takes the style of a whole text from its first member.
func (s *Spacing) assume(first space) {
	comma, end := space{line: " "}, space{}
	if first.lines != "" {
		comma, end = space{lines: first.lines}, space{lines: first.lines, deeper: -first.deeper}
	}
	for i := range sorts {
		for at, now := range map[int]space{sort(',')*sorts + i: comma, i*sorts + sort('}'): end} {
			if !s.sure[at] {
				s.seen[at] = now
			}
		}
	}
}

// Guess returns the white space before next, behind what was read and then text.
func (s *Spacing) Guess(text []byte, next byte) string {
	before, blank, indent := s.before, append(s.blank[:len(s.blank):len(s.blank)], text...), s.indent
	if i := bytes.LastIndexFunc(text, func(r rune) bool { return r > 0x7F || !isBlank(byte(r)) }); i >= 0 {
		before, blank = text[i], text[i+1:]
		if line := bytes.LastIndexByte(text[:i], '\n'); line >= 0 {
			indent = len(text[line+1:]) - len(bytes.TrimLeft(text[line+1:], " \t"))
		}
	}
	now := s.seen[pair(before, next)]
	whole := now.line
	if now.lines != "" {
		whole = now.lines + strings.Repeat(" ", min(max(indent+now.deeper, 0), maxBlank))
	}
	rest, ok := strings.CutPrefix(whole, string(blank))
	if !ok {
		return ""
	}
	return rest
}

func isBlank(b byte) bool { return b == ' ' || b == '\t' || b == '\n' || b == '\r' }
