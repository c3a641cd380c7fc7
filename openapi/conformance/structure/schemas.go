package structure

import (
	"slices"

	"github.com/diglot/diglot/openapi/conformance"
	"github.com/diglot/diglot/openapi/conformance/dialect"
)

// named is a schema with the name that its scenario has.
type named struct {
	name   string
	schema any
}

// graded are thirty schemas of growing difficulty. Their values are short, so that a weak
// model ends them.
func graded() []named {
	colour := object{"type": "string", "enum": list{"red", "green", "blue"}}
	digit := object{"type": "integer", "minimum": 0, "maximum": 9}
	yes := object{"type": "boolean"}
	short := object{"type": "string", "maxLength": 8}
	return []named{
		{"empty-object", dialect.Closed(object{})},
		{"boolean", dialect.Closed(object{"ok": yes}, "ok")},
		{"null", dialect.Closed(object{"none": object{"type": "null"}}, "none")},
		{"enum", dialect.Closed(object{"colour": colour}, "colour")},
		{"constant", dialect.Closed(object{"kind": object{"const": "point"}}, "kind")},
		{"digit", dialect.Closed(object{"n": digit}, "n")},
		{"two-fields", dialect.Closed(object{"colour": colour, "ok": yes}, "colour", "ok")},
		{"optional-field", dialect.Closed(object{"colour": colour, "ok": yes}, "ok")},
		{"short-string", dialect.Closed(object{"s": short}, "s")},
		{"pattern", dialect.Closed(object{"code": object{"type": "string", "pattern": "^[A-Z]{2}-[0-9]{3}$"}}, "code")},
		{"date", dialect.Closed(object{"day": object{"type": "string", "format": "date"}}, "day")},
		{"nested", dialect.Closed(object{"a": dialect.Closed(object{"b": yes}, "b")}, "a")},
		{"deeply-nested", dialect.Closed(object{"a": dialect.Closed(object{"b": dialect.Closed(object{"c": dialect.Closed(object{"d": colour}, "d")}, "c")}, "b")}, "a")},
		{"array-of-enums", dialect.Closed(object{"all": object{"type": "array", "items": colour, "minItems": 1, "maxItems": 3}}, "all")},
		{"array-of-exact-length", dialect.Closed(object{"all": object{"type": "array", "items": digit, "minItems": 3, "maxItems": 3}}, "all")},
		{"empty-array", dialect.Closed(object{"all": object{"type": "array", "items": digit, "maxItems": 0}}, "all")},
		{"array-of-objects", dialect.Closed(object{"all": object{"type": "array", "minItems": 1, "maxItems": 2, "items": dialect.Closed(object{"ok": yes}, "ok")}}, "all")},
		{"nullable", dialect.Closed(object{"n": object{"type": list{"integer", "null"}, "minimum": 0, "maximum": 9}}, "n")},
		{"any-of", dialect.Closed(object{"v": object{"anyOf": list{colour, digit}}}, "v")},
		{"one-of-objects", dialect.Closed(object{"v": object{"anyOf": list{dialect.Closed(object{"a": yes}, "a"), dialect.Closed(object{"b": digit}, "b")}}}, "v")},
		{"reference", object{"type": "object", "$defs": object{"c": colour}, "properties": object{"v": object{"$ref": "#/$defs/c"}}, "required": list{"v"}, "additionalProperties": false}},
		{"recursive", object{
			"type": "object", "$defs": object{"node": dialect.Closed(object{"ok": yes, "next": object{"anyOf": list{object{"$ref": "#/$defs/node"}, object{"type": "null"}}}}, "ok", "next")},
			"properties": object{"root": object{"$ref": "#/$defs/node"}}, "required": list{"root"}, "additionalProperties": false,
		}},
		{"unicode-names", dialect.Closed(object{"größe": digit, "色": colour}, "größe", "色")},
		{"unicode-values", dialect.Closed(object{"v": object{"type": "string", "enum": list{"żółć", "日本", "🙂"}}}, "v")},
		{"escapes", dialect.Closed(object{"v": object{"const": "a \"b\" \\ \n c <d> & e"}}, "v")},
		{"number-range", dialect.Closed(object{"x": object{"type": "integer", "minimum": -5, "maximum": 5}}, "x")},
		{"large-integer", dialect.Closed(object{"x": object{"const": 9007199254740991}}, "x")},
		{"many-fields", manyFields(12, yes)},
		{"map", object{"type": "object", "additionalProperties": yes, "maxProperties": 2}},
		{"array-root", object{"type": "array", "items": colour, "minItems": 2, "maxItems": 2}},
	}
}

func manyFields(n int, value any) object {
	properties := object{}
	var required []string
	for i := range n {
		name := "field_" + string(rune('a'+i))
		properties[name] = value
		required = append(required, name)
	}
	return dialect.Closed(properties, required...)
}

// schemas are scenarios of answers that must follow a schema.
func schemas() []conformance.Scenario {
	var all []conformance.Scenario
	for _, g := range graded() {
		all = append(all, dialect.Each("schema-"+g.name, "An answer follows the schema of the request.", followsSchema, func(t *conformance.Trial, d dialect.Dialect) {
			r := dialect.Greedy(t.Models.Text, "Give me an example as JSON.", 160)
			r.Schema = g.schema
			expectFit(t, d, r)
		})...)
	}
	return all
}

// expectFit asks and wants an answer that fits the schema. A server may say that it cannot
// enforce a schema, with a 400.
func expectFit(t *conformance.Trial, d dialect.Dialect, r dialect.Request) *dialect.Answer {
	x := d.Do(t, r)
	if x.Status == 400 && !t.Marks {
		t.NotOfferedf("the server refuses this schema: %s", x.Body)
	}
	if x.Status != 200 {
		t.Fatalf(x, "status %d, want 200", x.Status)
	}
	a, err := d.Read(x)
	if err != nil {
		t.Fatalf(x, "%v", err)
	}
	one := a.First()
	if one.Finish == dialect.FinishLength {
		t.Skipf("the model does not end its answer within %d tokens", r.MaxTokens)
	}
	if err := fits(r.Schema, one.Text); err != nil {
		t.Errorf(x, "the answer %q does not fit: %v", one.Text, err)
	}
	return a
}

// formats are scenarios of JSON mode and of schemas in other respects.
func formats() []conformance.Scenario {
	colour := dialect.Closed(object{"colour": object{"type": "string", "enum": list{"red", "green", "blue"}}}, "colour")
	jsonMode := func(d dialect.Dialect) bool { return d.Schemas && d.Style == conformance.OpenAI }
	return slices.Concat(
		dialect.Each("json-mode", "An answer in JSON mode is one JSON object, or is cut off and says so.", jsonMode, func(t *conformance.Trial, d dialect.Dialect) {
			for _, stream := range []bool{false, true} {
				r := dialect.Greedy(t.Models.Text, "Give me a JSON object with one short field.", 120)
				r.JSON, r.Stream = true, stream
				a := d.Ask(t, r)
				if err := fits(object{"type": "object"}, a.First().Text); err != nil && a.First().Finish != dialect.FinishLength {
					t.Errorf(a.Exchange, "the answer %q is no JSON object: %v", a.First().Text, err)
				}
			}
		}),
		dialect.Each("schema-invalid", "A schema that is none is a 400.", followsSchema, func(t *conformance.Trial, d dialect.Dialect) {
			r := dialect.Greedy(t.Models.Text, "Name a colour.", 16)
			r.Schema = object{"type": "no-such-type"}
			if x := d.Do(t, r); x.Status != 400 {
				t.Errorf(x, "status %d, want 400", x.Status)
			}
		}),
		dialect.Each("schema-impossible", "A schema that nothing fits is a 400, or the answer is cut off, and never one that does not fit.", followsSchema, impossible),
		dialect.Each("schema-of-a-sampled-answer", "An answer that is sampled at a high temperature follows the schema.", followsSchema, func(t *conformance.Trial, d dialect.Dialect) {
			hot := 1.0
			for range 3 {
				r := dialect.Greedy(t.Models.Text, "Name a colour.", 60)
				r.Schema, r.Temperature = colour, &hot
				expectFit(t, d, r)
			}
		}),
	)
}

// impossible accepts only answers that the limit cut off: no whole one fits.
func impossible(t *conformance.Trial, d dialect.Dialect) {
	r := dialect.Greedy(t.Models.Text, "Name a colour.", 16)
	r.Schema = dialect.Closed(object{"v": object{"type": "string", "enum": list{}}}, "v")
	x := d.Do(t, r)
	switch x.Status {
	case 400:
	case 200:
		a, err := d.Read(x)
		if err != nil {
			t.Fatalf(x, "%v", err)
		}
		if one := a.First(); one.Finish != dialect.FinishLength {
			t.Errorf(x, "the answer %q ends with %q, and nothing fits the schema", one.Text, one.Finish)
		}
	default:
		t.Errorf(x, "status %d, want 400", x.Status)
	}
}
