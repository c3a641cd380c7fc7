package structure

import (
	"slices"

	"github.com/diglot/diglot/openapi/conformance"
	"github.com/diglot/diglot/openapi/conformance/dialect"
)

// parameters are schemas of tools, from easy to hard. Values are short on any model.
func parameters() []struct {
	name   string
	schema any
} {
	word := object{"type": "string", "enum": list{"red", "blue"}}
	closed := func(properties object, required ...any) object {
		return object{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
	}
	return []struct {
		name   string
		schema any
	}{
		{"none", nil},
		{"empty-object", object{"type": "object", "properties": object{}, "additionalProperties": false}},
		{"boolean", closed(object{"on": object{"type": "boolean"}}, "on")},
		{"integer", closed(object{"n": object{"type": "integer", "minimum": 1, "maximum": 9}}, "n")},
		{"enum", closed(object{"colour": word}, "colour")},
		{"optional", closed(object{"colour": word, "other": word}, "colour")},
		{"nested", closed(object{"a": closed(object{"b": closed(object{"c": word}, "c")}, "b")}, "a")},
		{"array", closed(object{"all": object{"type": "array", "items": word, "minItems": 1, "maxItems": 3}}, "all")},
		{"objects-in-array", closed(object{"all": object{"type": "array", "minItems": 1, "maxItems": 2, "items": closed(object{"x": word}, "x")}}, "all")},
		{"nullable", closed(object{"v": object{"type": list{"string", "null"}, "enum": list{"red", nil}}}, "v")},
		{"any-of", closed(object{"v": object{"anyOf": list{word, object{"type": "boolean"}}}}, "v")},
		{"reference", object{"type": "object", "$defs": object{"c": word}, "properties": object{"v": object{"$ref": "#/$defs/c"}}, "required": list{"v"}, "additionalProperties": false}},
		{"unicode-names", closed(object{"größe": word, "色": word}, "größe", "色")},
		{"quotes-in-values", closed(object{"v": object{"type": "string", "enum": list{`say "hi" \ & <b>`}}}, "v")},
		{"constant", closed(object{"v": object{"const": "fixed"}}, "v")},
	}
}

// arguments are scenarios of calls whose arguments must fit their tool.
func arguments() []conformance.Scenario {
	var all []conformance.Scenario
	for _, p := range parameters() {
		tool := dialect.Tool{Name: "pick", Description: "Picks a value.", Parameters: p.schema}
		all = append(all, each("tool-arguments-"+p.name, "Arguments of a forced call are JSON that fits the tool's schema.", callsTools,
			func(t *conformance.Trial, d dialect.Dialect) {
				expectCalls(t, d, forced(t, dialect.ChoiceNamed, "pick", tool), "pick")
			})...)
	}
	return slices.Concat(all,
		each("tool-arguments-streamed", "Streamed pieces of arguments are those of the reply that is not streamed.", callsTools, func(t *conformance.Trial, d dialect.Dialect) {
			r := forced(t, dialect.ChoiceNamed, "get_weather", city())
			whole := d.Ask(t, r)
			r.Stream = true
			pieces := d.Ask(t, r)
			want, got := whole.First().Calls, pieces.First().Calls
			if len(want) != len(got) || len(want) > 0 && !sameJSON(want[0].Arguments, got[0].Arguments) {
				t.Errorf(pieces.Exchange, "the stream has the calls %v, want %v", got, want)
			}
		}),
		each("tool-arguments-cut-off", "A call that max_tokens cuts off ends with the reason for length.", callsTools, func(t *conformance.Trial, d dialect.Dialect) {
			long := dialect.Tool{Name: "save", Description: "Saves a text.", Parameters: object{
				"type": "object", "required": list{"text"}, "additionalProperties": false,
				"properties": object{"text": object{"const": "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"}},
			}}
			r := forced(t, dialect.ChoiceNamed, "save", long)
			r.MaxTokens = 16
			if a := d.Ask(t, r); a.First().Finish != dialect.FinishLength {
				t.Errorf(a.Exchange, "the answer ends with %q, want the reason for length", a.First().Finish)
			}
		}),
	)
}
