package grammar

import (
	"fmt"
	"regexp/syntax"
)

// maxSpread bounds the alternatives that anchors inside of choices make.
const maxSpread = 256

var errSpread = fmt.Errorf("%w: too many anchors", ErrPattern)

// spread lists the alternatives of re as sequences in which anchors stand at
// the top: ^(a$|b) is ^ a $ or ^ b.
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
	case syntax.OpQuest: // nothing, or what may hold anchors
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

// anchored reports whether there is an anchor in re.
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
