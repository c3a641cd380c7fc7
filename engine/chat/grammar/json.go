package grammar

import (
	"strconv"
	"unicode/utf8"
)

// Default limits of generated JSON. With greedy sampling a model may loop, and a loop of
// digits or spaces would only end at max_tokens. Most JSON parsers keep no more than 16
// digits anyway.
const (
	maxDigits         = 16 // of the integer part, and of the fraction
	maxExponentDigits = 2
	maxBlanks         = 32 // eight levels of four
	maxNewlines       = 2
)

// Whitespace is the optional white space between JSON tokens: up to two newlines, each
// after at most one space, then up to 32 spaces or tabs. It fits all usual styles, but a
// model cannot loop in it.
func Whitespace() Node { return whitespace }

var whitespace = builtin(&rule{
	nullable: true,
	body: Seq(
		Repeat(Seq(optional(Literal(" ")), optional(Literal("\r")), Literal("\n")), 0, maxNewlines),
		Repeat(chars(" \t"), 0, maxBlanks)),
})

// JSONValue is any JSON value in any usual style. Numbers have at most 16 digits before
// and after the point.
func JSONValue() Node { return jsonTypes.value }

// JSONObject is any JSON object.
func JSONObject() Node { return jsonTypes.object }

// types are the JSON types without constraints.
type types struct{ value, object, array, str, integer, number, boolean, null Node }

var jsonTypes = newTypes()

func newTypes() types {
	value, object, array, str := &rule{}, &rule{}, &rule{}, &rule{}
	t := types{
		value: &ref{value}, object: &ref{object}, array: &ref{array}, str: &ref{str},
		integer: integerText(),
		number:  builtin(&rule{body: Seq(integerText(), optional(fractionText()), optional(exponentText()))}),
		boolean: Choice(Literal("true"), Literal("false")),
		null:    Literal("null"),
	}
	str.body = quoted(Repeat(stringChar, 0, -1))
	object.body = braces('{', '}', list(memberNode(t.str, t.value), 0, -1))
	array.body = braces('[', ']', list(Seq(t.value, Whitespace()), 0, -1))
	value.body = Choice(t.object, t.array, t.str, t.number, t.boolean, t.null)
	settleBuiltin(value, object, array, str)
	return t
}

// braces is inner between two structural characters. inner has trailing but no leading
// white space.
func braces(open, end rune, inner Node) Node {
	return Seq(Literal(string(open)), Whitespace(), inner, Literal(string(end)))
}

// memberNode is a member of an object, with trailing white space.
func memberNode(key, value Node) Node { return Seq(key, colonNode, value, Whitespace()) }

var colonNode = Seq(Whitespace(), Literal(":"), Whitespace())

func comma() Node { return commaNode }

var commaNode = Seq(Literal(","), Whitespace())

// list is least to most comma-separated items; most < 0: no bound.
func list(item Node, least, most int) Node {
	if most == 0 || most > 0 && most < least {
		return Repeat(item, least, most)
	}
	more := most
	if most > 0 {
		more = most - 1
	}
	some := Seq(item, Repeat(Seq(comma(), item), max(least-1, 0), more))
	if least <= 0 {
		return optional(some)
	}
	return some
}

func quoted(inner Node) Node { return Seq(Literal(`"`), inner, Literal(`"`)) }

// stringChar is one code point of a JSON string, raw or escaped. Escaped surrogates must
// be pairs.
var stringChar = newStringChar()

func newStringChar() Node {
	hex := &class{normalize([]runeRange{{'0', '9'}, {'a', 'f'}, {'A', 'F'}})}
	notD := &class{subtract(hex.ranges, rangesOf("dD"))}
	code := Choice(
		Seq(notD, hex, hex, hex),
		Seq(chars("dD"), Choice(
			Seq(charRange('0', '7'), hex, hex),
			Seq(chars("89abAB"), hex, hex, Literal(`\u`), chars("dD"), chars("cdefCDEF"), hex, hex))))
	escape := Seq(Literal(`\`), Choice(chars(`"\/bfnrt`), Seq(Literal("u"), code)))
	return Choice(&class{rawRanges}, escape)
}

// rawRanges are the characters that need no escape in a JSON string.
var rawRanges = subtract([]runeRange{{' ', maxRune}}, rangesOf(`"\`))

// plainChars is one character of (normalized) ranges in canonical form: raw if allowed,
// otherwise with the shortest escape. [Pattern], names and constants use it.
func plainChars(ranges []runeRange) Node {
	alternatives := []Node{&class{subtract(ranges, []runeRange{{0, 0x1F}, {'"', '"'}, {'\\', '\\'}})}}
	for _, r := range ranges {
		for c := r.lo; c <= min(r.hi, '\\'); c++ {
			if mustEscape(c) {
				alternatives = append(alternatives, Literal(escaped(c)))
			}
		}
	}
	if len(alternatives) == 1 {
		return alternatives[0]
	}
	return Choice(alternatives...)
}

// mustEscape reports whether a character must be escaped in a JSON string.
func mustEscape(r rune) bool { return r < ' ' || r == '"' || r == '\\' }

// escaped is the canonical form of a character in a JSON string.
func escaped(r rune) string {
	switch r {
	case '"', '\\':
		return `\` + string(r)
	case '\b':
		return `\b`
	case '\f':
		return `\f`
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case '\t':
		return `\t`
	}
	if r < ' ' {
		return `\u00` + strconv.FormatInt(int64(r)+0x100, 16)[1:]
	}
	return string(r)
}

// quote is the canonical JSON of a string.
func quote(s string) string { return string(appendQuoted(make([]byte, 0, len(s)+2), s)) }

func appendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	for _, r := range s {
		if mustEscape(r) {
			b = append(b, escaped(r)...)
		} else {
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}

// digits is min to max decimal digits.
func digits(min, max int) Node { return Repeat(charRange('0', '9'), min, max) }

func integerText() Node {
	return Seq(optional(Literal("-")),
		Choice(Literal("0"), Seq(charRange('1', '9'), digits(0, maxDigits-1))))
}

func fractionText() Node { return Seq(Literal("."), digits(1, maxDigits)) }

func exponentText() Node {
	return Seq(chars("eE"), optional(chars("+-")), digits(1, maxExponentDigits))
}
