package grammar

import (
	"strconv"
	"unicode/utf8"
)

// Bounds of generated JSON where no schema sets any. They are there because
// a model that always takes its likeliest token can fall into a loop, and a
// loop of digits or blanks would only end with the limit on tokens. More
// than 16 digits are not kept by most readers of JSON anyway.
const (
	maxDigits         = 16 // of the integer part, and of the fraction
	maxExponentDigits = 2
	maxBlanks         = 32 // eight levels of four
	maxNewlines       = 2
)

// Whitespace is the optional white space that is allowed between the parts
// of a JSON text: at most two line ends, each after at most one blank, then
// at most 32 blanks or tabs. That is room for every usual style of printing,
// and a model cannot lose itself in it.
func Whitespace() Node { return whitespace }

var whitespace = ours(&rule{
	nullable: true,
	body: Seq(
		Repeat(Seq(optional(Literal(" ")), optional(Literal("\r")), Literal("\n")), 0, maxNewlines),
		Repeat(chars(" \t"), 0, maxBlanks)),
})

// JSONValue is any JSON value, printed in any usual style. Its numbers have
// at most 16 digits before and after the point.
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
		number:  ours(&rule{body: Seq(integerText(), optional(fractionText()), optional(exponentText()))}),
		boolean: Choice(Literal("true"), Literal("false")),
		null:    Literal("null"),
	}
	str.body = quoted(Repeat(stringChar, 0, -1))
	object.body = braces('{', '}', list(memberNode(t.str, t.value), 0, -1))
	array.body = braces('[', ']', list(Seq(t.value, Whitespace()), 0, -1))
	value.body = Choice(t.object, t.array, t.str, t.number, t.boolean, t.null)
	settleOurs(value, object, array, str)
	return t
}

// braces is what stands between two structural characters. inner begins
// without white space and ends with it.
func braces(open, end rune, inner Node) Node {
	return Seq(Literal(string(open)), Whitespace(), inner, Literal(string(end)))
}

// memberNode is one member of an object, with the white space behind it.
func memberNode(key, value Node) Node { return Seq(key, colonNode, value, Whitespace()) }

var colonNode = Seq(Whitespace(), Literal(":"), Whitespace())

func comma() Node { return commaNode }

var commaNode = Seq(Literal(","), Whitespace())

// list is least to most items with commas between them; most < 0: no bound.
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

// stringChar is one character (one code point) of a JSON string, raw or
// escaped. A surrogate is only allowed as one half of a pair.
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

// rawRanges are the characters that a JSON string may hold as they are.
var rawRanges = subtract([]runeRange{{' ', maxRune}}, rangesOf(`"\`))

// plainChars is one character out of ranges (normalized) as JSON strings
// spell it when each character has one spelling: raw where that is allowed,
// else with its shortest escape. It is what [Pattern], names and constants
// use.
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

// mustEscape reports whether a JSON string may not hold a character as it is.
func mustEscape(r rune) bool { return r < ' ' || r == '"' || r == '\\' }

// escaped is the one spelling of a character inside a JSON string.
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

// quote is the one spelling of a string as JSON.
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
