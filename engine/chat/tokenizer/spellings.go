package tokenizer

import "iter"

// Spellings is an immutable trie of token texts.
type Spellings struct {
	nodes []node
	first [256]int32 // by first byte; 0: none
	texts []string
}

// node is one byte. Node 0 is none.
type node struct {
	child, sibling int32
	text           int32 // 1 + index of the text that ends here; 0: none
	b              byte
}

// NewSpellings returns a trie of texts without the empty ones.
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

// step is the child of a node by the next byte; 0: none.
func (s *Spellings) step(at int32, b byte) int32 {
	for next := s.nodes[at].child; next != 0; next = s.nodes[next].sibling {
		if s.nodes[next].b == b {
			return next
		}
	}
	return 0
}

// Len is the number of texts.
func (s *Spellings) Len() int { return len(s.texts) }

// Begin reports whether any text starts with b.
func (s *Spellings) Begin(b byte) bool { return s.first[b] != 0 }

// longest is [Spellings.Longest] of at most limit bytes.
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

// Longest is the length of the longest match at the start of text; 0: none.
func (s *Spellings) Longest(text string) int { return s.longest(text, len(text)) }

// Completed yields the rest of each text that starts with start and is longer.
func (s *Spellings) Completed(start string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, text := range s.texts {
			if len(text) > len(start) && text[:len(start)] == start && !yield(text[len(start):]) {
				return
			}
		}
	}
}

// Prefix reports whether text is a prefix of any text in the trie.
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

// Find yields the matches in text, in order. Like llama.cpp, of overlapping matches it
// takes the longest, and of equally long ones the first.
func (s *Spellings) Find(text string) iter.Seq2[int, int] {
	return func(yield func(start, end int) bool) {
		// A cluster is a range of overlapping matches.
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

// In reports whether text contains a match.
func (s *Spellings) In(text string) bool {
	for range s.Find(text) {
		return true
	}
	return false
}

// resolve yields the matches of at most limit bytes in text[from:to].
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

// exactly reports whether text starts with a match of n bytes.
func (s *Spellings) exactly(text string, n int) bool {
	return len(text) >= n && s.longest(text, n) == n
}

// Agrees is the length of the longest prefix of text that is in the trie, complete or
// not.
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
