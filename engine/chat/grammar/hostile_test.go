package grammar

import (
	"fmt"
	"strings"
)

// many joins n made parts with commas.
func many(n int, part func(i int) string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(part(i))
	}
	return b.String()
}

// same is a part that does not depend on its number.
func same(text string) func(int) string { return func(int) string { return text } }

func numbered(format string) func(int) string {
	return func(i int) string { return strings.ReplaceAll(format, "#", fmt.Sprint(i)) }
}

// nested puts n times start in front of a text, and end behind it.
func nested(n int, start, text, end string) string {
	return strings.Repeat(start, n) + text + strings.Repeat(end, n)
}

// hostileSchemas each try to cost much with few bytes: every keyword, and
// every way in which parts multiply.
var hostileSchemas = map[string]string{
	// The text itself.
	"a long name above many schemas": `{"properties":{"` + strings.Repeat("n", 60_000) + `":{"properties":{` + many(4000, numbered(`"p#":{}`)) + `}}}}`,
	"a long name above many issues":  `{"properties":{"` + strings.Repeat("n", 60_000) + `":{"properties":{` + many(3000, numbered(`"p#":{"not":{}}`)) + `}}}}`,
	"a long name in a name":          `{"properties":{` + strings.Repeat(`"`+strings.Repeat("n", 900)+`":{"properties":{`, 60) + many(500, numbered(`"p#":{"not":{}}`)) + strings.Repeat(`}}`, 60) + `}}`,
	"many values":                    `{"enum":[` + many(60_000, same(`1`)) + `]}`,
	"many small schemas":             `{"anyOf":[` + many(1900, same(`{}`)) + `],"prefixItems":[` + many(4900, same(`{"a":1}`)) + `]}`,
	"many members":                   `{` + many(12_000, numbered(`"x#":1`)) + `}`,
	"deep":                           nested(63, `{"items":`, `{}`, `}`),
	"deep and wide":                  nested(60, `{"properties":{"a":{"type":"string"},"b":{"type":"integer"},"c":`, `{}`, `}}`),

	// References.
	"a chain of references":      `{"$ref":"#/$defs/d0","$defs":{` + many(3000, func(i int) string { return fmt.Sprintf(`"d%d":{"$ref":"#/$defs/d%d"}`, i, i+1) }) + `,"d3000":{"type":"null"}}}`,
	"references beside keywords": `{"anyOf":[` + many(1500, same(`{"$ref":"#/$defs/a","minLength":1}`)) + `],"$defs":{"a":{` + many(1000, numbered(`"x#":1`)) + `}}}`,
	"doubling references": `{"$ref":"#/$defs/d0","$defs":{` + many(40, func(i int) string {
		return fmt.Sprintf(`"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}`, i, i+1, i+1)
	}) + `,"d40":{"minLength":1}}}`,
	"doubling alternatives": `{"$ref":"#/$defs/d0","$defs":{` + many(40, func(i int) string {
		return fmt.Sprintf(`"d%d":{"anyOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}`, i, i+1, i+1)
	}) + `,"d40":{"minLength":1}}}`,
	"long references":                `{"$defs":{"` + strings.Repeat("n", 2000) + `":{}},"allOf":[` + many(30, same(`{"minLength":1,"$ref":"#/$defs/`+strings.Repeat("n", 2000)+`"}`)) + `]}`,
	"references to each set":         `{"$ref":"#/$defs/a","$defs":{"a":{"properties":{"x":{"allOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/b"}]},"y":{"$ref":"#/$defs/a"}}},"b":{"properties":{"x":{"allOf":[{"$ref":"#/$defs/b"},{"$ref":"#/$defs/c"}]},"y":{"$ref":"#/$defs/c"}}},"c":{"properties":{"x":{"$ref":"#/$defs/a"},"y":{"$ref":"#/$defs/b"}}}}}`,
	"subsets of properties":          subsets(14),
	"rules that wait for each other": waiting(900),
	"rules that need all of the rest": `{"$defs":{` + many(200, func(i int) string {
		return fmt.Sprintf(`"d%d":{"properties":{%s},"required":["p0"]}`, i, many(20, func(j int) string { return fmt.Sprintf(`"p%d":{"$ref":"#/$defs/d%d"}`, j, (i+j+1)%200) }))
	}) + `},"anyOf":[{"type":"null"},{"$ref":"#/$defs/d0"}]}`,

	// Combinations.
	"a product of alternatives":    `{"allOf":[` + many(11, numbered(`{"anyOf":[{"minLength":#},{"maxLength":9#}]}`)) + `]}`,
	"a product of wide objects":    `{"properties":{` + many(1000, numbered(`"p#":{}`)) + `},"anyOf":[` + many(1500, numbered(`{"required":["p#"]}`)) + `]}`,
	"a sum of wide objects":        `{"allOf":[` + many(1500, numbered(`{"properties":{"p#":{}},"additionalProperties":{"minLength":#}}`)) + `]}`,
	"a sum of tuples":              `{"prefixItems":[` + many(4000, same(`{}`)) + `],"allOf":[` + many(2000, numbered(`{"items":{"minLength":#}}`)) + `]}`,
	"a sum of enums":               `{"allOf":[` + many(200, func(i int) string { return `{"enum":[` + many(60, numbered(`"v#"`)) + `]}` }) + `]}`,
	"a sum of required names":      `{"allOf":[` + many(3000, numbered(`{"required":["n#"]}`)) + `]}`,
	"a sum of patterns":            `{"allOf":[` + many(2000, numbered(`{"pattern":"^a{#}b"}`)) + `]}`,
	"alternatives in alternatives": nested(40, `{"anyOf":[{"type":"null"},{"type":"array","items":`, `{}`, `}]}`),
	"alternatives of sums":         `{"oneOf":[` + many(400, numbered(`{"allOf":[{"properties":{"a":{"const":#}}},{"properties":{"b":{"const":#}}},{"required":["a","b"]}]}`)) + `]}`,
	"one shape after another":      `{"allOf":[{"anyOf":[` + many(1990, numbered(`{"minLength":#}`)) + `]},` + many(1500, same(`{"minLength":1}`)) + `]}`,

	// Values.
	"a long enum":                      `{"enum":[` + many(6000, numbered(`"value #"`)) + `]}`,
	"an enum of objects":               `{"enum":[` + many(2000, numbered(`{"a":#,"b":[#]}`)) + `]}`,
	"an enum in an enum":               `{"enum":[` + many(5000, numbered(`{"a":#}`)) + `],"allOf":[{"enum":[` + many(5000, numbered(`{"a":1#}`)) + `]}]}`,
	"an enum of large exponents":       `{"type":"integer","enum":[` + many(9000, same(`1e400`)) + `]}`,
	"an enum beside a large object":    `{"properties":{"a":` + nested(40, `{"enum":[{"b":1}],"minProperties":0,"properties":{"b":`, `{}`, `}}`) + `}}`,
	"an enum beside an ambiguous text": `{"pattern":"^((a{0,30}){0,30})$","enum":["` + strings.Repeat("a", 40_000) + `"]}`,
	"many enums beside many":           `{"properties":{` + many(1200, numbered(`"p#":{"enum":["aa"],"minLength":1}`)) + `}}`,
	"a long constant":                  `{"const":"` + strings.Repeat("n", 62_000) + `"}`,
	"a constant of many":               `{"const":[` + many(16_000, same(`{}`)) + `]}`,
	"enums beside patterns":            `{"properties":{` + many(500, numbered(`"p#":{"enum":["aa"],"pattern":"^\\p{L}{#}"}`)) + `}}`,

	// Numbers.
	"small bounds":       `{"properties":{` + many(1800, numbered(`"p#":{"minimum":#e-399}`)) + `}}`,
	"large bounds":       `{"properties":{` + many(1500, numbered(`"p#":{"maximum":#e390,"minimum":-#e390}`)) + `}}`,
	"long bounds":        `{"properties":{` + many(70, numbered(`"p#":{"exclusiveMaximum":1#`+strings.Repeat("7", 390)+`,"minimum":-#.`+strings.Repeat("3", 390)+`}`)) + `}}`,
	"integers in bounds": `{"properties":{` + many(1500, numbered(`"p#":{"type":"integer","minimum":#,"maximum":9#7}`)) + `}}`,
	"huge bounds":        `{"anyOf":[` + many(1500, same(`{"minimum":1e999999999}`)) + `]}`,

	// Texts and patterns.
	"large counts":                 `{"maxItems":2000000000,"minItems":1999999999,"items":{"type":"string","minLength":100000,"maxLength":100001}}`,
	"counts in counts":             nested(60, `{"type":"array","minItems":3,"maxItems":1000000,"items":`, `{"maxLength":1000000}`, `}`),
	"nested quantifiers":           `{"pattern":"^` + nested(400, `(`, `a`, `+)`) + `$","minLength":3}`,
	"nested counts":                `{"pattern":"^((((a{0,5}){0,5}){0,5}){0,5})$"}`,
	"counted alternatives":         `{"pattern":"^(` + anyOf(400, "ab#") + `){0,100}$"}`,
	"a long alternation":           `{"pattern":"^(` + anyOf(8000, "w#") + `)$"}`,
	"an alternation of starts":     `{"pattern":"^(` + starts(300) + `)$"}`,
	"optional characters":          `{"pattern":"^` + strings.Repeat("a?b?", 15_000) + `$"}`,
	"Unicode classes":              `{"pattern":"^` + strings.Repeat(`\\pL`, 15_000) + `$"}`,
	"different Unicode classes":    `{"pattern":"^` + strings.Repeat(`\\p{Lu}x\\P{Nd}y\\p{Greek}`, 2000) + `$"}`,
	"Unicode classes in a class":   `{"pattern":"^[` + strings.Repeat(`\\pL`, 15_000) + `]$"}`,
	"classes that ignore the case": `{"pattern":"(?i)` + strings.Repeat(`[\\x{100}-\\x{1e900}]`, 3000) + `"}`,
	"negated classes":              `{"pattern":"^` + strings.Repeat(`\\S\\W\\D`, 7000) + `$"}`,
	"patterns with large classes":  `{"properties":{` + many(900, numbered(`"p#":{"pattern":"(?i)^[\\x{100}-\\x{1e900}]\\pL{3}a{#}$"}`)) + `}}`,
	"different classes":            `{"pattern":"^` + charClasses(4000) + `$"}`,
	"anchors in alternatives":      `{"pattern":"` + strings.Repeat(`(^a|b$|c)`, 5) + strings.Repeat(`d*`, 10_000) + `"}`,
	"many anchors":                 `{"pattern":"(^a` + strings.Repeat("|^a", 15_000) + `)(b|c$)"}`,
	"deep groups with anchors":     `{"pattern":"` + nested(900, `(`, `^a`, `|b)`) + `"}`,
	"many patterns":                `{"properties":{` + many(80, numbered(`"p#":{"pattern":"^[a-z0-9._%+-]{1,9#}@[a-z0-9.-]+$"}`)) + `}}`,
	"look-around":                  `{"pattern":"` + strings.Repeat(`(?=a)`, 10_000) + `"}`,
	"formats": `{"anyOf":[` + many(1500, func(i int) string {
		return `{"format":"` + []string{"ipv6", "email", "hostname", "date-time"}[i%4] + `"}`
	}) + `]}`,
	"a pattern of one long literal": `{"pattern":"` + strings.Repeat("n", 62_000) + `"}`,

	// Objects and arrays.
	"many optional properties":    `{"properties":{` + many(4500, numbered(`"p#":{}`)) + `}}`,
	"many names that are not":     `{"properties":{` + many(4500, numbered(`"p#":{}`)) + `},"additionalProperties":true}`,
	"long names that are not":     `{"properties":{` + many(6, numbered(`"`+strings.Repeat("n", 9_900)+`#":{}`)) + `},"additionalProperties":true}`,
	"names that are not, Unicode": `{"properties":{` + many(4000, func(i int) string { return fmt.Sprintf(`"%c%c\n":{}`, 'あ'+i%80, '一'+i) }) + `},"additionalProperties":true}`,
	"names by patterns":           `{"patternProperties":{` + many(4000, numbered(`"^p#":{}`)) + `}}`,
	"names that follow a pattern": `{"propertyNames":{"pattern":"^(` + anyOf(5000, "n#") + `)$"},"additionalProperties":{"type":"null"}}`,
	"many required names":         `{"required":[` + many(4900, numbered(`"p#"`)) + `]}`,
	"a long tuple":                `{"prefixItems":[` + many(4900, numbered(`{"const":#}`)) + `],"minItems":2000}`,
	"counts of members":           `{"minProperties":1000000,"maxProperties":2000000,"additionalProperties":{"minProperties":100000}}`,
	"wide objects in wide objects": `{"properties":{` + many(60, func(i int) string {
		return fmt.Sprintf(`"o%d":{"properties":{%s}}`, i, many(60, numbered(`"p#":{"type":["string","null"]}`)))
	}) + `}}`,
	"keywords that are not enforced": `{"allOf":[` + many(2500, numbered(`{"not":{"const":#},"if":{}}`)) + `]}`,
}

// anyOf is n alternatives of a pattern.
func anyOf(n int, format string) string {
	return strings.ReplaceAll(many(n, numbered(format)), ",", "|")
}

// starts is alternatives that each begin with the one before.
func starts(n int) string {
	var list []string
	for i := range n {
		list = append(list, strings.Repeat("a", i)+"b")
	}
	return strings.Join(list, "|")
}

// charClasses is n different classes.
func charClasses(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `[\\u%04x-\\u%04x]`, 0x100+3*i, 0x105+7*i)
	}
	return b.String()
}

// waiting is n rules each of which is satisfiable because of the next one,
// met in the order that tells least.
func waiting(n int) string {
	defs := many(n, func(i int) string {
		return fmt.Sprintf(`"d%d":{"type":"object","properties":{"a":{"$ref":"#/$defs/d%d"}},"required":["a"]}`, i, i+1)
	})
	all := many(n, func(i int) string { return fmt.Sprintf(`"x%d":{"$ref":"#/$defs/d%d"}`, i, n-1-i) })
	return fmt.Sprintf(`{"properties":{%s},"$defs":{%s,"d%d":{"type":"null"}}}`, all, defs, n)
}

// subsets is a schema whose values must satisfy each subset of n schemas
// somewhere.
func subsets(n int) string {
	return `{"$ref":"#/$defs/d0","$defs":{` + many(n, func(i int) string {
		next := (i + 1) % n
		return fmt.Sprintf(`"d%d":{"properties":{"x":{"$ref":"#/$defs/d%d"},"y":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}}}`, i, next, i, (i*7+3)%n)
	}) + `}}`
}
