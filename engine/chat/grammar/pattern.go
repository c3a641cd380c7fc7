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
