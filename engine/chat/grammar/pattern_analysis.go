package grammar

import (
	"fmt"
	"regexp/syntax"
)

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
