package grammar

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"regexp/syntax"
	"unicode"
)

// ErrPattern is wrapped by errors of [Pattern] for valid expressions that are not
// supported: lookaround, backreferences, word boundaries, anchors in the middle, and
// counts above 1000.
var ErrPattern = errors.New("grammar: not a regular language, or too large")

// Pattern is any text with a match of the regular expression, like JSON Schema's keyword
// pattern: it is not anchored. The syntax is ECMA-262 with the flag u, as far as Go's
// regexp/syntax supports it.
//
// It uses the budget of ctx.
func Pattern(ctx context.Context, re string) (_ Node, err error) {
	m := newMeter(ctx)
	defer m.settle(&err)
	tree, err := parsePattern(m, re)
	if err != nil {
		return nil, err
	}
	return pattern{func(r []runeRange) Node { return &class{r} }, m, map[string]Node{}}.search(tree)
}

// pattern converts a regular expression to nodes. make returns the node of a character
// class, which may be escaped in a JSON string. known caches these.
type pattern struct {
	make  func([]runeRange) Node
	meter *meter
	known map[string]Node
}

// char is one character of (normalized) ranges.
func (p pattern) char(ranges []runeRange) Node {
	p.meter.spend(1+len(ranges)/8, 16*len(ranges))
	key := make([]byte, 0, 8*len(ranges))
	for _, r := range ranges {
		key = binary.LittleEndian.AppendUint32(key, uint32(r.lo))
		key = binary.LittleEndian.AppendUint32(key, uint32(r.hi))
	}
	if n, ok := p.known[string(key)]; ok {
		return n
	}
	p.meter.spend(10+len(ranges)/4, 3000+64*len(ranges))
	n := p.make(ranges)
	p.known[string(key)] = n
	return n
}

// any is any text.
func (p pattern) any() Node { return Repeat(p.char(anyChar.ranges), 0, -1) }

// search is any text with a match of re.
func (p pattern) search(re *syntax.Regexp) (Node, error) {
	ways, err := p.spread(re)
	if err != nil {
		return nil, err
	}
	var nodes []Node
	for _, way := range ways {
		p.meter.spend(1+len(way), 200+40*len(way))
		fromStart, toEnd := false, false
		for len(way) > 0 && way[0].Op == syntax.OpBeginText {
			fromStart, way = true, way[1:]
		}
		for len(way) > 0 && way[len(way)-1].Op == syntax.OpEndText {
			toEnd, way = true, way[:len(way)-1]
		}
		var parts []Node
		if !fromStart {
			parts = append(parts, p.any())
		}
		for _, part := range way {
			n, err := p.node(part)
			if err != nil {
				return nil, err
			}
			parts = append(parts, n)
		}
		if !toEnd {
			parts = append(parts, p.any())
		}
		nodes = append(nodes, Seq(parts...))
	}
	return Choice(nodes...), nil
}

// node is any text that re matches.
func (p pattern) node(re *syntax.Regexp) (Node, error) {
	p.meter.spend(2, 250)
	switch re.Op {
	case syntax.OpNoMatch:
		return Choice(), nil
	case syntax.OpEmptyMatch:
		return Seq(), nil
	case syntax.OpLiteral:
		return p.literal(re), nil
	case syntax.OpCharClass:
		p.meter.spend(1+len(re.Rune)/16, 16*len(re.Rune))
		ranges := make([]runeRange, 0, len(re.Rune)/2)
		for i := 0; i+1 < len(re.Rune); i += 2 {
			ranges = append(ranges, runeRange{re.Rune[i], re.Rune[i+1]})
		}
		return p.char(normalize(ranges)), nil
	case syntax.OpAnyChar:
		return p.char(anyChar.ranges), nil
	case syntax.OpAnyCharNotNL:
		return p.char(subtract(anyChar.ranges, rangesOf("\n\r\u2028\u2029"))), nil
	case syntax.OpCapture:
		return p.node(re.Sub[0])
	case syntax.OpStar:
		return p.repeat(re.Sub[0], 0, -1)
	case syntax.OpPlus:
		return p.repeat(re.Sub[0], 1, -1)
	case syntax.OpQuest:
		return p.repeat(re.Sub[0], 0, 1)
	case syntax.OpRepeat:
		return p.repeat(re.Sub[0], re.Min, re.Max)
	case syntax.OpConcat, syntax.OpAlternate:
		return p.several(re)
	}
	return nil, fmt.Errorf("%w: %s", ErrPattern, re)
}

func (p pattern) repeat(re *syntax.Regexp, min, max int) (Node, error) {
	n, err := p.node(re)
	if err != nil {
		return nil, err
	}
	return Repeat(n, min, max), nil
}

func (p pattern) several(re *syntax.Regexp) (Node, error) {
	p.meter.spend(0, 32*len(re.Sub))
	nodes := make([]Node, len(re.Sub))
	for i, sub := range re.Sub {
		n, err := p.node(sub)
		if err != nil {
			return nil, err
		}
		nodes[i] = n
	}
	if re.Op == syntax.OpConcat {
		return Seq(nodes...), nil
	}
	return Choice(nodes...), nil
}

func (p pattern) literal(re *syntax.Regexp) Node {
	p.meter.spend(len(re.Rune), 200*len(re.Rune))
	nodes := make([]Node, 0, len(re.Rune))
	for _, r := range re.Rune {
		ranges := []runeRange{{r, r}}
		if re.Flags&syntax.FoldCase != 0 {
			for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
				ranges = append(ranges, runeRange{f, f})
			}
		}
		nodes = append(nodes, p.char(normalize(ranges)))
	}
	return Seq(nodes...)
}

// maxSpread limits the alternatives due to anchors within choices.
const maxSpread = 256

var errSpread = fmt.Errorf("%w: too many anchors", ErrPattern)

// spread lists the alternatives of re as sequences with anchors at the top level:
// ^(a$|b) is ^ a $ or ^ b.
func (p pattern) spread(re *syntax.Regexp) ([][]*syntax.Regexp, error) {
	if p.meter.spend(1, 100); !p.anchored(re) {
		return [][]*syntax.Regexp{{re}}, nil
	}
	switch re.Op {
	case syntax.OpBeginText, syntax.OpEndText:
		return [][]*syntax.Regexp{{re}}, nil
	case syntax.OpCapture:
		return p.spread(re.Sub[0])
	case syntax.OpAlternate:
		var all [][]*syntax.Regexp
		for _, sub := range re.Sub {
			ways, err := p.spread(sub)
			if err != nil {
				return nil, err
			}
			if all = append(all, ways...); len(all) > maxSpread {
				return nil, errSpread
			}
		}
		return all, nil
	case syntax.OpConcat:
		return p.spreadConcat(re.Sub)
	case syntax.OpQuest: // may contain anchors
		ways, err := p.spread(re.Sub[0])
		return append(ways, nil), err
	}
	return nil, fmt.Errorf("%w: a repeated anchor", ErrPattern)
}

func (p pattern) spreadConcat(subs []*syntax.Regexp) ([][]*syntax.Regexp, error) {
	all := [][]*syntax.Regexp{nil}
	for _, sub := range subs {
		ways, err := p.spread(sub)
		if err != nil {
			return nil, err
		}
		var longer [][]*syntax.Regexp
		for _, start := range all {
			for _, way := range ways {
				p.meter.spend(1+len(start)/16, 100+32*(len(start)+len(way)))
				longer = append(longer, append(start[:len(start):len(start)], way...))
			}
			if len(longer) > maxSpread {
				return nil, errSpread
			}
		}
		all = longer
	}
	return all, nil
}

// anchored reports whether re contains an anchor.
func (p pattern) anchored(re *syntax.Regexp) bool {
	p.meter.spend(1, 0)
	if re.Op == syntax.OpBeginText || re.Op == syntax.OpEndText {
		return true
	}
	for _, sub := range re.Sub {
		if p.anchored(sub) {
			return true
		}
	}
	return false
}

// lengths returns the minimum and maximum length of a match in characters; -1: no
// maximum.
func lengths(re *syntax.Regexp) (least, most int) {
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune), len(re.Rune)
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 1, 1
	case syntax.OpCapture:
		return lengths(re.Sub[0])
	case syntax.OpStar:
		_, most = lengths(re.Sub[0])
		return 0, timesMost(most, -1)
	case syntax.OpPlus:
		least, most = lengths(re.Sub[0])
		return least, timesMost(most, -1)
	case syntax.OpQuest:
		_, most = lengths(re.Sub[0])
		return 0, most
	case syntax.OpRepeat:
		least, most = lengths(re.Sub[0])
		return least * re.Min, timesMost(most, re.Max)
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			l, m := lengths(sub)
			least, most = least+l, plus(most, m)
		}
	case syntax.OpAlternate:
		least, most = lengths(re.Sub[0])
		for _, sub := range re.Sub[1:] {
			l, m := lengths(sub)
			least = min(least, l)
			if most >= 0 {
				most = max(most, m)
			}
			if m < 0 {
				most = -1
			}
		}
	}
	return least, most
}

// plus adds two lengths; -1: unbounded.
func plus(a, b int) int {
	if a < 0 || b < 0 {
		return -1
	}
	return a + b
}

// timesMost multiplies a length; -1: unbounded.
func timesMost(most, times int) int {
	switch {
	case most <= 0:
		return most
	case times < 0:
		return -1
	}
	return most * times
}
