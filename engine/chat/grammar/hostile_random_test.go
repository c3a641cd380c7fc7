package grammar

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// hostileRandom makes schemas in which any keyword stands beside and below any
// other, and some of their parts come hundreds of times.
type hostileRandom struct{ *rand.Rand }

func (r hostileRandom) pick(list ...string) string { return list[r.IntN(len(list))] }

// name is a text of one letter.
func (r hostileRandom) name(n int) string {
	return strings.Repeat(r.pick("a", "b", "n", "z", "é"), 1+r.IntN(n)) + "7"
}

func (r hostileRandom) pattern() string {
	var b strings.Builder
	for range 1 + r.IntN(8) {
		part := r.pick("a", "[a-z]", `\\d`, `\\pL`, "(a|b|ab)", "(x{0,9}y?)", ".", `\\S`, "(ab*)+", "(c{1,30}){0,30}", "[^a]", "(d|^e)", "(?i)", "$")
		n := 1
		if r.IntN(4) == 0 && len(part) > 1 && part != "(?i)" {
			n += r.IntN(200)
		}
		b.WriteString(strings.Repeat(part, n))
	}
	return b.String()
}

// list is some parts, or many that are the same but for their number.
func (r hostileRandom) list(part func() string) string {
	if r.IntN(4) > 0 {
		return many(1+r.IntN(4), func(int) string { return part() })
	}
	one, n := part(), 1+r.IntN(400)
	if len(one) > 400 {
		n = 1 + n/20
	}
	if r.IntN(2) == 0 {
		return many(n, same(one))
	}
	return many(n, func(i int) string { return strings.ReplaceAll(one, "7", fmt.Sprint(i)) })
}

func (r hostileRandom) schema(depth int) string {
	if depth <= 0 || r.IntN(12) == 0 {
		return r.pick(`{}`, `true`, `{"type":"string"}`, `{"minLength":7}`, `{"const":7}`, `{"type":["integer","null"]}`)
	}
	keywords := make([]string, 1+r.IntN(4))
	for i := range keywords {
		keywords[i] = r.keyword(func() string { return r.schema(depth - 1) })
	}
	return "{" + strings.Join(keywords, ",") + "}"
}

func (r hostileRandom) keyword(part func() string) string {
	number := func() string {
		return r.pick("0", "1", "-5", "3.25", "1e300", "-1e-300", "99999999", "12345678901234567890")
	}
	switch r.IntN(14) {
	case 0, 1, 2:
		return `"` + r.pick("allOf", "anyOf", "oneOf", "prefixItems") + `":[` + r.list(part) + `]`
	case 3, 4:
		return `"properties":{` + r.list(func() string { return `"` + r.name(30) + `":` + part() }) + `}`
	case 5:
		return `"` + r.pick("additionalProperties", "items", "propertyNames") + `":` + part()
	case 6:
		return `"required":[` + r.list(func() string { return `"` + r.name(20) + `"` }) + `]`
	case 7:
		return fmt.Sprintf(`"minItems":%d,"maxItems":%d`, r.IntN(9), 9+r.IntN(1_000_000))
	case 8:
		return fmt.Sprintf(`"minLength":%d,"maxLength":%d`, r.IntN(9), 9+r.IntN(1_000_000))
	case 9:
		return `"` + r.pick("minimum", "exclusiveMaximum") + `":` + number()
	case 10:
		return `"pattern":"` + r.pattern() + `"`
	case 11:
		return `"enum":[` + r.list(func() string { return r.pick(`7`, `"x7"`, `{"a":7,"b":[1,2]}`, `1e7`, `"`+r.name(200)+`"`, `null`) }) + `]`
	case 12:
		return fmt.Sprintf(`"$ref":"#/$defs/d%d"`, r.IntN(6))
	}
	return `"format":"` + r.pick("date", "ipv6", "email") + `","not":{}`
}

// whole is a schema with definitions.
func (r hostileRandom) whole() string {
	defs := many(6, func(i int) string { return fmt.Sprintf(`"d%d":%s`, i, r.schema(3)) })
	return `{` + r.keyword(func() string { return r.schema(3) }) + `,` + r.keyword(func() string { return r.schema(3) }) + `,"$defs":{` + defs + `}}`
}

// What is counted is at least what is allocated, for schemas that nobody
// thought of.
func TestRandomHostileSchemas(t *testing.T) {
	limits := Limits{Steps: 500_000, Bytes: 16 << 20}
	large := 0
	for seed := range uint64(250) {
		schema := hostileRandom{rand.New(rand.NewPCG(seed, 1))}.whole()
		ctx := newBudgeted(limits)
		before := allocated()
		_, err := compileSchema(ctx, schema)
		real, used := allocated()-before, ctx.budget.Used()
		if real > min(used.Bytes, limits.Bytes)+slack {
			t.Errorf("seed %d: %d bytes are allocated and %d counted: %v", seed, real, used.Bytes, err)
		}
		if err == nil && (used.Steps > limits.Steps+checkSteps || used.Bytes > limits.Bytes+checkBytes) {
			t.Errorf("seed %d: it is done with %v", seed, used)
		}
		if used.Steps > 100_000 {
			large++
		}
	}
	if large < 10 {
		t.Errorf("only %d schemas cost anything", large)
	}
}
