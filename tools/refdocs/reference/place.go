package reference

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
)

// Place says where in a stream an event may come.
type Place struct {
	First, Last bool     // a stream may begin, or end, with it
	Next        []string // the events that may come directly after it
}

var token = regexp.MustCompile(`[A-Za-z_.]+ |[()|*+?]`)

// placesOf reads the places of events from the order of their stream, which is a regular
// expression over their names, each followed by a space.
func placesOf(sequence string) (map[string]Place, error) {
	p := &sequenceParser{tokens: token.FindAllString(sequence, -1), next: map[string]map[string]bool{}}
	total := 0
	for _, t := range p.tokens {
		total += len(t)
	}
	if total != len(sequence) {
		return nil, fmt.Errorf("the order of events %q has more than names and ( ) | * + ?", sequence)
	}
	whole := p.alternatives()
	if len(p.tokens) > 0 {
		return nil, fmt.Errorf("the order of events ends before %q", p.tokens)
	}
	places := map[string]Place{}
	for name, next := range p.next {
		places[name] = Place{First: whole.first[name], Last: whole.last[name], Next: slices.Sorted(maps.Keys(next))}
	}
	return places, nil
}

// span is a part of the expression: the names that it can begin and end with.
type span struct {
	first, last map[string]bool
	empty       bool // it may match nothing
}

type sequenceParser struct {
	tokens []string
	next   map[string]map[string]bool
}

func (p *sequenceParser) peek() string {
	if len(p.tokens) == 0 {
		return ""
	}
	return p.tokens[0]
}

func (p *sequenceParser) take() string {
	t := p.peek()
	p.tokens = p.tokens[1:]
	return t
}

func (p *sequenceParser) alternatives() span {
	all := p.concatenation()
	for p.peek() == "|" {
		p.take()
		other := p.concatenation()
		all = span{first: union(all.first, other.first), last: union(all.last, other.last), empty: all.empty || other.empty}
	}
	return all
}

func (p *sequenceParser) concatenation() span {
	all := span{empty: true}
	for t := p.peek(); t != "" && t != "|" && t != ")"; t = p.peek() {
		part := p.repetition()
		p.follow(all.last, part.first)
		joined := span{first: all.first, last: part.last, empty: all.empty && part.empty}
		if all.empty {
			joined.first = union(all.first, part.first)
		}
		if part.empty {
			joined.last = union(all.last, part.last)
		}
		all = joined
	}
	return all
}

func (p *sequenceParser) repetition() span {
	var s span
	if t := p.take(); t == "(" {
		s = p.alternatives()
		if p.peek() == ")" {
			p.take()
		}
	} else {
		name := t[:max(0, len(t)-1)]
		s = span{first: map[string]bool{name: true}, last: map[string]bool{name: true}}
		p.follow(s.last, nil)
	}
	switch p.peek() {
	case "*", "+":
		p.follow(s.last, s.first)
		mayBeNone := p.take() == "*"
		s.empty = s.empty || mayBeNone
	case "?":
		p.take()
		s.empty = true
	}
	return s
}

// follow notes that each of the later names may come directly after each of the earlier.
func (p *sequenceParser) follow(earlier, later map[string]bool) {
	for name := range earlier {
		p.next[name] = union(p.next[name], later)
	}
}

func union(a, b map[string]bool) map[string]bool {
	all := map[string]bool{}
	maps.Copy(all, a)
	maps.Copy(all, b)
	return all
}
