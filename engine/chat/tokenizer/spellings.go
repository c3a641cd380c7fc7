package tokenizer

import "iter"

// Spellings are the texts of special tokens, as a tree by their bytes: a place
// in a text is asked in as many steps as a spelling has bytes, however many
// there are. They do not change.
type Spellings struct {
	nodes []node
	first [256]int32 // the node of a spelling's first byte; 0: none begins with it
	texts []string
}

// node is one byte of spellings. Node 0 is none.
type node struct {
	child, sibling int32
	text           int32 // 1 + the number of the spelling that ends here
	b              byte
}

// NewSpellings makes a set of texts. Those that are empty are left out.
func NewSpellings(texts []string) *Spellings {
	s := &Spellings{nodes: make([]node, 1)}
	for _, text := range texts {
		if text != "" {
			s.add(text)
		}
	}
	return s
}

func (s *Spellings) add(text string) {
	at := s.first[text[0]]
	if at == 0 {
		at = s.grow(text[0])
		s.first[text[0]] = at
	}
	for i := 1; i < len(text); i++ {
		next := s.step(at, text[i])
		if next == 0 {
			next = s.grow(text[i])
			s.nodes[next].sibling = s.nodes[at].child
			s.nodes[at].child = next
		}
		at = next
	}
	if s.nodes[at].text == 0 {
		s.texts = append(s.texts, text)
		s.nodes[at].text = int32(len(s.texts))
	}
}

func (s *Spellings) grow(b byte) int32 {
	s.nodes = append(s.nodes, node{b: b})
	return int32(len(s.nodes) - 1)
}

// step is the node behind at by the next byte; 0: there is none.
func (s *Spellings) step(at int32, b byte) int32 {
	for next := s.nodes[at].child; next != 0; next = s.nodes[next].sibling {
		if s.nodes[next].b == b {
			return next
		}
	}
	return 0
}

// Len is how many spellings there are.
func (s *Spellings) Len() int { return len(s.texts) }

// Begin reports whether a spelling begins with b.
func (s *Spellings) Begin(b byte) bool { return s.first[b] != 0 }

// longest is the length of the longest spelling that text begins with, of at
// most limit bytes; 0: none.
func (s *Spellings) longest(text string, limit int) int {
	if text == "" {
		return 0
	}
	length := 0
	at := s.first[text[0]]
	for i := 1; at != 0 && i <= limit; i++ {
		if s.nodes[at].text != 0 {
			length = i
		}
		if i == len(text) {
			break
		}
		at = s.step(at, text[i])
	}
	return length
}

// Longest is the length of the longest spelling that text begins with; 0: none.
func (s *Spellings) Longest(text string) int { return s.longest(text, len(text)) }

// Completed yields what is missing to each spelling that begins with start,
// start itself not among them.
func (s *Spellings) Completed(start string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, text := range s.texts {
			if len(text) > len(start) && text[:len(start)] == start && !yield(text[len(start):]) {
				return
			}
		}
	}
}

// Prefix reports whether text is the beginning of a spelling, or all of it.
func (s *Spellings) Prefix(text string) bool {
	if text == "" {
		return false
	}
	at := s.first[text[0]]
	for i := 1; at != 0 && i < len(text); i++ {
		at = s.step(at, text[i])
	}
	return at != 0
}

// Find yields the spellings in text, from its front, as llama.cpp finds them:
// a longer one anywhere comes before all that overlap with it, and of equal
// ones the first.
func (s *Spellings) Find(text string) iter.Seq2[int, int] {
	return func(yield func(start, end int) bool) {
		// A cluster is a part of text in which spellings overlap.
		start, end, several := 0, 0, false
		for i := 0; i <= len(text); i++ {
			if i == end && end > start {
				if !several {
					if !yield(start, end) {
						return
					}
				} else if !s.resolve(text, start, end, end-start, yield) {
					return
				}
				start, end, several = i, i, false
			}
			if i == len(text) || s.first[text[i]] == 0 {
				continue
			}
			n := s.longest(text[i:], len(text))
			switch {
			case n == 0:
			case end <= i:
				start, end = i, i+n
			default:
				end, several = max(end, i+n), true
			}
		}
	}
}

// In reports whether a spelling is in text.
func (s *Spellings) In(text string) bool {
	for range s.Find(text) {
		return true
	}
	return false
}

// resolve yields the spellings of at most limit bytes in text[from:to].
func (s *Spellings) resolve(text string, from, to, limit int, yield func(start, end int) bool) bool {
	most := 0
	for i := from; i < to; i++ {
		if s.first[text[i]] != 0 {
			most = max(most, s.longest(text[i:to], limit))
		}
	}
	if most == 0 {
		return true
	}
	for i := from; i < to; {
		if s.first[text[i]] == 0 || !s.exactly(text[i:to], most) {
			i++
			continue
		}
		if !s.resolve(text, from, i, most-1, yield) || !yield(i, i+most) {
			return false
		}
		i += most
		from = i
	}
	return s.resolve(text, from, to, most-1, yield)
}

// exactly reports whether text begins with a spelling of n bytes.
func (s *Spellings) exactly(text string, n int) bool {
	return len(text) >= n && s.longest(text, n) == n
}

// Agrees is how many bytes of text, from its front, agree with a spelling: all
// of one, or the beginning of one.
func (s *Spellings) Agrees(text string) int {
	if text == "" {
		return 0
	}
	n := 0
	for at := s.first[text[0]]; at != 0; {
		if n++; n == len(text) {
			break
		}
		at = s.step(at, text[n])
	}
	return n
}
