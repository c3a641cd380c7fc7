package grammar

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"strings"
	"unicode"
)

// ErrPattern is wrapped by the errors of [Pattern] for expressions that are
// valid and cannot be followed: look-around, back references, word
// boundaries, anchors in the middle, and counts above 1000.
var ErrPattern = errors.New("grammar: not a regular language, or too large")

// Pattern is any text in which the regular expression finds a match, as JSON
// Schema's keyword pattern means it: without ^ and $ anything may stand
// before and after. The expression is read as ECMA-262 with the flag u, as
// far as Go's regexp/syntax has the same words.
func Pattern(re string) (Node, error) {
	tree, err := parsePattern(re)
	if err != nil {
		return nil, err
	}
	return pattern{func(r []runeRange) Node { return &class{r} }}.search(tree)
}

// parsePattern returns the expression's tree.
func parsePattern(re string) (*syntax.Regexp, error) {
	if word := beyondRegular(re); word != "" {
		return nil, fmt.Errorf("%w: %s", ErrPattern, word)
	}
	tree, err := syntax.Parse(fromECMA(re), syntax.Perl)
	var bad *syntax.Error
	if errors.As(err, &bad) && tooLarge(bad) {
		return nil, fmt.Errorf("%w: %v", ErrPattern, err)
	}
	return tree, err
}

// tooLarge tells Go's limits from mistakes. A count over the limit and a
// maximum below its minimum have the same code.
func tooLarge(err *syntax.Error) bool {
	switch err.Code {
	case syntax.ErrLarge, syntax.ErrNestingDepth:
		return true
	case syntax.ErrInvalidRepeatSize:
		var least, most int
		if n, _ := fmt.Sscanf(err.Expr, "{%d,%d}", &least, &most); n == 2 {
			return least <= most
		}
		return true
	}
	return false
}

// beyondRegular returns what of an expression is valid in ECMA-262 and
// describes no regular language.
func beyondRegular(re string) string {
	inClass := false
	for i := 0; i < len(re); i++ {
		rest := re[i:]
		switch {
		case rest[0] == '\\' && len(rest) > 1:
			if c := rest[1]; !inClass && ('1' <= c && c <= '9' || c == 'k' || c == 'b' || c == 'B') {
				return rest[:2]
			}
			i++
		case rest[0] == '[':
			inClass = true
		case rest[0] == ']':
			inClass = false
		case !inClass:
			for _, word := range []string{"(?=", "(?!", "(?<=", "(?<!"} {
				if strings.HasPrefix(rest, word) {
					return word
				}
			}
		}
	}
	return ""
}

// fromECMA rewrites what Go spells in another way: \uXXXX, \u{X}, \cX, \0,
// [\b], [] and [^]. What white space is differs between the languages that
// check the text later, so \s is the blanks that all of them know, and what
// is not white space leaves out all that any of them counts as such.
func fromECMA(re string) string {
	const spaces = `\x{9}-\x{d}\x{20}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`
	var b strings.Builder
	inClass, negated := false, false
	for i := 0; i < len(re); i++ {
		c := re[i]
		if c != '\\' || i+1 == len(re) {
			switch {
			case strings.HasPrefix(re[i:], "[^]") && !inClass:
				b.WriteString(`[\x{0}-\x{10ffff}]`)
				i += 2
				continue
			case strings.HasPrefix(re[i:], "[]") && !inClass:
				b.WriteString(`[^\x{0}-\x{10ffff}]`)
				i++
				continue
			case c == '[' && inClass:
				b.WriteByte('\\') // no classes inside classes; Go reads [: as one
			case c == '[':
				inClass, negated = true, strings.HasPrefix(re[i:], "[^")
			case c == ']':
				inClass = false
			}
			b.WriteByte(c)
			continue
		}
		i++
		switch rest := re[i:]; {
		case rest[0] == 'u' && len(rest) > 4 && isHex(rest[1:5]):
			i += 4
			code := rest[1:5]
			if low := rest[5:]; isSurrogate(code, 'b') && len(low) > 5 && low[:2] == `\u` && isHex(low[2:6]) {
				i += 6
				code = joinSurrogates(code, low[2:6])
			}
			b.WriteString(`\x{` + code + `}`)
		case rest[0] == 'u' && len(rest) > 1 && rest[1] == '{':
			b.WriteString(`\x`)
		case rest[0] == 'c' && len(rest) > 1 && unicode.IsLetter(rune(rest[1])):
			i++
			fmt.Fprintf(&b, `\x{%x}`, rest[1]%32)
		case rest[0] == '0':
			b.WriteString(`\x{0}`)
		case rest[0] == 'b' && inClass:
			b.WriteString(`\x{8}`)
		case rest[0] == 's' && negated && inClass:
			b.WriteString(spaces)
		case rest[0] == 'S' && !inClass:
			b.WriteString(`[^` + spaces + `]`)
		default:
			b.WriteByte('\\')
			b.WriteByte(rest[0])
		}
	}
	return b.String()
}

func isHex(s string) bool { return strings.Trim(s, "0123456789abcdefABCDEF") == "" }

// isSurrogate reports whether four hex digits are a surrogate whose second
// digit is at least 8 and at most last.
func isSurrogate(code string, last byte) bool {
	return code[0]|0x20 == 'd' && code[1] >= '8' && code[1]|0x20 <= last|0x20
}

func joinSurrogates(high, low string) string {
	var h, l rune
	fmt.Sscanf(high, "%x", &h)
	fmt.Sscanf(low, "%x", &l)
	return fmt.Sprintf("%x", (h-0xD800)<<10+(l-0xDC00)+0x10000)
}

// pattern turns the tree of a regular expression into nodes. char makes the
// node of one character: inside a JSON string some are written escaped.
type pattern struct{ char func([]runeRange) Node }

// any is any text.
func (p pattern) any() Node { return Repeat(p.char(anyChar.ranges), 0, -1) }

// search is the text in which re finds a match.
func (p pattern) search(re *syntax.Regexp) (Node, error) {
	ways, err := spread(re)
	if err != nil {
		return nil, err
	}
	var nodes []Node
	for _, way := range ways {
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

// maxSpread bounds the alternatives that anchors inside of choices make.
const maxSpread = 256

// spread lists the alternatives of re as sequences in which anchors stand at
// the top: ^(a$|b) is ^ a $ or ^ b.
func spread(re *syntax.Regexp) ([][]*syntax.Regexp, error) {
	if !anchored(re) {
		return [][]*syntax.Regexp{{re}}, nil
	}
	switch re.Op {
	case syntax.OpBeginText, syntax.OpEndText:
		return [][]*syntax.Regexp{{re}}, nil
	case syntax.OpCapture:
		return spread(re.Sub[0])
	case syntax.OpAlternate:
		var all [][]*syntax.Regexp
		for _, sub := range re.Sub {
			ways, err := spread(sub)
			if err != nil {
				return nil, err
			}
			all = append(all, ways...)
		}
		return all, nil
	case syntax.OpConcat:
		return spreadConcat(re.Sub)
	case syntax.OpQuest: // nothing, or what may hold anchors
		ways, err := spread(re.Sub[0])
		return append(ways, nil), err
	}
	return nil, fmt.Errorf("%w: a repeated anchor", ErrPattern)
}

func spreadConcat(subs []*syntax.Regexp) ([][]*syntax.Regexp, error) {
	all := [][]*syntax.Regexp{nil}
	for _, sub := range subs {
		ways, err := spread(sub)
		if err != nil {
			return nil, err
		}
		var longer [][]*syntax.Regexp
		for _, start := range all {
			for _, way := range ways {
				longer = append(longer, append(start[:len(start):len(start)], way...))
			}
		}
		if all = longer; len(all) > maxSpread {
			return nil, fmt.Errorf("%w: too many anchors", ErrPattern)
		}
	}
	return all, nil
}

// anchored reports whether there is an anchor in re.
func anchored(re *syntax.Regexp) bool {
	if re.Op == syntax.OpBeginText || re.Op == syntax.OpEndText {
		return true
	}
	for _, sub := range re.Sub {
		if anchored(sub) {
			return true
		}
	}
	return false
}

// node is the text that re matches.
func (p pattern) node(re *syntax.Regexp) (Node, error) {
	switch re.Op {
	case syntax.OpNoMatch:
		return Choice(), nil
	case syntax.OpEmptyMatch:
		return Seq(), nil
	case syntax.OpLiteral:
		return p.literal(re), nil
	case syntax.OpCharClass:
		var ranges []runeRange
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
	var nodes []Node
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

// lengths returns the least and the most characters that re matches; most is
// -1 where there is no bound.
func lengths(re *syntax.Regexp) (least, most int) {
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune), len(re.Rune)
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 1, 1
	case syntax.OpCapture:
		return lengths(re.Sub[0])
	case syntax.OpStar:
		return 0, timesMost(re.Sub[0], -1)
	case syntax.OpPlus:
		least, _ = lengths(re.Sub[0])
		return least, timesMost(re.Sub[0], -1)
	case syntax.OpQuest:
		return 0, timesMost(re.Sub[0], 1)
	case syntax.OpRepeat:
		least, _ = lengths(re.Sub[0])
		return least * re.Min, timesMost(re.Sub[0], re.Max)
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			l, m := lengths(sub)
			least += l
			if most >= 0 && m >= 0 {
				most += m
			} else {
				most = -1
			}
		}
	case syntax.OpAlternate:
		least = -1
		for _, sub := range re.Sub {
			l, m := lengths(sub)
			if least < 0 || l < least {
				least = l
			}
			if most >= 0 && m >= 0 {
				most = max(most, m)
			} else {
				most = -1
			}
		}
	}
	return least, most
}

func timesMost(re *syntax.Regexp, times int) int {
	_, most := lengths(re)
	if most <= 0 {
		return most
	}
	if times < 0 {
		return -1
	}
	return most * times
}
