package grammar

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// parsePattern returns the expression's tree.
func parsePattern(m *meter, re string) (*syntax.Regexp, error) {
	if word := beyondRegular(re); word != "" {
		return nil, fmt.Errorf("%w: %s", ErrPattern, word)
	}
	spaces := strings.Count(re, `\s`) + strings.Count(re, `\S`) // their expansion is long
	m.spend(len(re)/8+spaces, 8*len(re)+600*spaces)
	re = fromECMA(re)
	steps, bytes := parseCost(re)
	if steps > maxParseSteps || bytes > maxParseBytes {
		return nil, fmt.Errorf("%w: %d bytes", ErrPattern, len(re))
	}
	m.spend(steps, bytes)
	tree, err := syntax.Parse(re, syntax.Perl)
	var bad *syntax.Error
	if errors.As(err, &bad) && tooLarge(bad) {
		return nil, fmt.Errorf("%w: %v", ErrPattern, err)
	}
	return tree, err
}

// Limits for parsing one expression. They are below the budget's, as parsing cannot be
// interrupted.
const (
	maxParseSteps = 100_000
	maxParseBytes = 32 << 20
)

// parseCost is an upper bound of the cost of syntax.Parse, which copies the Unicode
// tables for each class that names one and, ignoring case, folds each character of a
// range.
func parseCost(re string) (steps, bytes int) {
	const (
		node    = 400     // bytes of a node, with its list entries
		table   = 24_000  // bytes of the longest table, sorted and negated
		letters = 1 << 17 // all cased letters are below
		perStep = 16      // letters folded in a step
	)
	folds := ignoresCase(re)
	steps, bytes = len(re)/2, node*len(re)
	for i := range len(re) - 1 {
		rest := re[i+1:]
		switch c := re[i]; {
		case c == '\\' && (rest[0] == 'p' || rest[0] == 'P'):
			steps, bytes = steps+200, bytes+table
		case folds && c == '-' && (rest[0] >= utf8.RuneSelf || strings.HasPrefix(rest, `\x{`)):
			steps, bytes = steps+letters/perStep, bytes+table
		}
	}
	return steps, bytes
}

// ignoresCase reports whether a part of re has flags like (?i).
func ignoresCase(re string) bool {
	for {
		_, rest, found := strings.Cut(re, "(?")
		if !found {
			return false
		}
		flags := len(rest) - len(strings.TrimLeft(rest, "imsU-"))
		if strings.Contains(rest[:flags], "i") {
			return true
		}
		re = rest
	}
}

// tooLarge distinguishes Go's limits from syntax errors. A count above the limit and a
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

// beyondRegular returns a part of an expression that is valid in ECMA-262 but not
// regular.
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

// fromECMA rewrites syntax that differs in Go: \uXXXX, \u{X}, \cX, \0, [\b], [] and [^].
// Languages that may check the text later disagree on white space, so \s is what all of
// them include and \S excludes what any of them does.
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
				b.WriteByte('\\') // Go parses [: as a class
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
			if low := rest[5:]; len(low) > 5 && low[:2] == `\u` && isHex(low[2:6]) {
				if r := utf16.DecodeRune(hexRune(code), hexRune(low[2:6])); r != utf8.RuneError {
					i += 6
					code = strconv.FormatInt(int64(r), 16)
				}
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

// hexRune is the rune of four hex digits.
func hexRune(digits string) rune {
	n, _ := strconv.ParseUint(digits, 16, 16)
	return rune(n)
}
