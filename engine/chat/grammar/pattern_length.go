package grammar

import "regexp/syntax"

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

// plus adds two numbers of characters that may be without bound.
func plus(a, b int) int {
	if a < 0 || b < 0 {
		return -1
	}
	return a + b
}

// timesMost multiplies a number of characters by times; -1: without bound.
func timesMost(most, times int) int {
	switch {
	case most <= 0:
		return most
	case times < 0:
		return -1
	}
	return most * times
}
