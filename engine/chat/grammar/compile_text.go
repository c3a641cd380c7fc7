package grammar

import (
	"slices"
	"unicode/utf8"
)

// literals returns the texts of nodes, or nil if one is not a literal.
func (c *compiler) literals(nodes []Node) []string {
	if len(nodes) < 2 {
		return nil
	}
	for _, n := range nodes {
		if _, ok := n.(*literal); !ok {
			return nil
		}
	}
	c.meter.spend(len(nodes)/16, 16*len(nodes))
	list := make([]string, 0, len(nodes))
	for _, n := range nodes {
		list = append(list, n.(*literal).text)
	}
	return list
}

// trie compiles a choice of literals with shared prefixes, so that a thousand names take
// one thread.
func (c *compiler) trie(texts []string, t task) int32 {
	c.meter.spend(len(texts), 0)
	slices.Sort(texts)
	texts = slices.Compact(texts)
	if texts[0] == "" && t.nonEmpty {
		texts = texts[1:]
	}
	return c.branch(texts, 0, t.next)
}

// branch compiles the rest, from byte at on, of sorted texts with a common prefix.
func (c *compiler) branch(texts []string, at int, next int32) int32 {
	if len(texts) == 0 {
		return pcFail
	}
	c.meter.spend(len(texts)/8, 0)
	c.deeper()
	defer c.shallower()
	first, last := texts[0], texts[len(texts)-1]
	same := at
	for same < len(first) && first[same] == last[same] { // true for all, as they are sorted
		same++
	}
	pc, from := pcFail, first[at:same]
	if len(first) == same {
		pc, texts = next, texts[1:]
	}
	for len(texts) > 0 {
		n := 1
		for n < len(texts) && texts[n][same] == texts[0][same] {
			n++
		}
		pc = c.split(c.branch(texts[:n], same, next), pc)
		texts = texts[n:]
	}
	return c.literal(from, task{next: pc})
}

// until compiles an Aho-Corasick automaton of the markers: a state is the longest suffix
// of the text that is a prefix of a marker. There are no transitions that complete one.
func (c *compiler) until(markers []string, t task) int32 {
	if len(markers) == 0 {
		return c.node(free, t.next, t.nonEmpty)
	}
	s := newSearch(markers)
	c.meter.spend(20*len(s.states), 200*len(s.states))
	pcs := make([]int32, len(s.states))
	for i := range pcs {
		pcs[i] = c.reserve()
	}
	alphabet := s.alphabet()
	start := pcFail
	for i, prefix := range s.states {
		c.meter.spend(4*len(alphabet), 400+100*len(alphabet))
		targets := map[int][]runeRange{}
		for _, r := range alphabet {
			if to := s.next(prefix, r); to >= 0 {
				targets[to] = append(targets[to], runeRange{r, r})
			}
		}
		targets[0] = append(targets[0], subtract(anyChar.ranges, rangesOf(string(alphabet)))...)
		read := pcFail
		for to := range s.states { // in order, for reproducible programs
			if ranges := targets[to]; ranges != nil {
				read = c.split(c.class(normalize(ranges), pcs[to]), read)
			}
		}
		c.prog[pcs[i]] = instr{op: opSplit, x: read, y: t.next}
		if i == 0 {
			start = read
		}
	}
	if t.nonEmpty {
		return start
	}
	return pcs[0]
}

// except compiles the rest, from byte at on, of a name that is none of the names, which
// are sorted and have a common prefix.
func (c *compiler) except(names []string, at int, next int32) int32 {
	c.meter.spend(2, 300)
	c.deeper()
	defer c.shallower()
	pc := pcFail
	if len(names) > 0 && len(names[0]) == at {
		names = names[1:]
	} else {
		pc = c.byte('"', next)
	}
	end := c.node(endOfName, next, false)
	raw, escapes := rawRanges, nameEscapes
	var firsts []runeRange
	for len(names) > 0 {
		r, size := utf8.DecodeRuneInString(names[0][at:])
		n := 1
		for n < len(names) && names[n][at:min(at+size, len(names[n]))] == names[0][at:at+size] {
			n++
		}
		c.meter.spend(n/8, 40)
		pc = c.split(c.literal(escaped(r), task{next: c.except(names[:n], at+size, next)}), pc)
		if firsts = append(firsts, runeRange{r, r}); mustEscape(r) {
			escapes = nil
		}
		names = names[n:]
	}
	if escapes == nil {
		c.meter.spend(20, 4000)
		escapes = plainChars(subtract(subtract(anyChar.ranges, rawRanges), firsts))
	}
	raw = subtract(raw, firsts)
	pc = c.split(c.node(escapes, end, false), pc)
	return c.split(c.class(raw, end), pc)
}

// search has the proper prefixes of markers.
type search struct {
	markers []string
	states  []string // proper prefixes that contain no marker; the first is empty
	number  map[string]int
}

func newSearch(markers []string) *search {
	s := &search{markers: markers, number: map[string]int{}}
	for _, m := range markers {
		for i := range m { // character borders
			if _, ok := s.number[m[:i]]; !ok && !s.found(m[:i]) {
				s.number[m[:i]] = len(s.states)
				s.states = append(s.states, m[:i])
			}
		}
	}
	return s
}

func (s *search) alphabet() []rune {
	var list []rune
	for _, m := range s.markers {
		list = append(list, []rune(m)...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// found reports whether text ends with a marker.
func (s *search) found(text string) bool {
	return slices.ContainsFunc(s.markers, func(m string) bool {
		return len(text) >= len(m) && text[len(text)-len(m):] == m
	})
}

// next returns the state after a character, or -1 if it completes a marker.
func (s *search) next(prefix string, r rune) int {
	text := prefix + string(r)
	if s.found(text) {
		return -1
	}
	for i := range text {
		if n, ok := s.number[text[i:]]; ok {
			return n
		}
	}
	return 0
}
