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
	return []struct {
		name   string
		schema any
	}{
		{"none", nil},
		{"empty-object", object{"type": "object", "properties": object{}, "additionalProperties": false}},
		{"boolean", dialect.Closed(object{"on": object{"type": "boolean"}}, "on")},
		{"integer", dialect.Closed(object{"n": object{"type": "integer", "minimum": 1, "maximum": 9}}, "n")},
		{"enum", dialect.Closed(object{"colour": word}, "colour")},
		{"optional", dialect.Closed(object{"colour": word, "other": word}, "colour")},
		{"nested", dialect.Closed(object{"a": dialect.Closed(object{"b": dialect.Closed(object{"c": word}, "c")}, "b")}, "a")},
		{"array", dialect.Closed(object{"all": object{"type": "array", "items": word, "minItems": 1, "maxItems": 3}}, "all")},
		{"objects-in-array", dialect.Closed(object{"all": object{"type": "array", "minItems": 1, "maxItems": 2, "items": dialect.Closed(object{"x": word}, "x")}}, "all")},
		{"nullable", dialect.Closed(object{"v": object{"type": list{"string", "null"}, "enum": list{"red", nil}}}, "v")},
		{"any-of", dialect.Closed(object{"v": object{"anyOf": list{word, object{"type": "boolean"}}}}, "v")},
		{"reference", object{"type": "object", "$defs": object{"c": word}, "properties": object{"v": object{"$ref": "#/$defs/c"}}, "required": list{"v"}, "additionalProperties": false}},
		{"unicode-names", dialect.Closed(object{"größe": word, "色": word}, "größe", "色")},
		{"quotes-in-values", dialect.Closed(object{"v": object{"type": "string", "enum": list{`say "hi" \ & <b>`}}}, "v")},
		{"constant", dialect.Closed(object{"v": object{"const": "fixed"}}, "v")},
	}
}

// arguments are scenarios of calls whose arguments must fit their tool.
func arguments() []conformance.Scenario {
	var all []conformance.Scenario
	for _, p := range parameters() {
		tool := dialect.Tool{Name: "pick", Description: "Picks a value.", Parameters: p.schema}
		all = append(all, dialect.Each("tool-arguments-"+p.name, "Arguments of a forced call are JSON that fits the tool's schema.", callsTools,
			func(t *conformance.Trial, d dialect.Dialect) {
				expectCalls(t, d, weather(t, dialect.ChoiceNamed, "pick", tool), "pick")
			})...)
	}
	return slices.Concat(all,
		dialect.Each("tool-arguments-cut-off", "A call that max_tokens cuts off ends with the reason for length.", callsTools, func(t *conformance.Trial, d dialect.Dialect) {
			long := dialect.Tool{Name: "save", Description: "Saves a text.", Parameters: object{
				"type": "object", "required": list{"text"}, "additionalProperties": false,
				"properties": object{"text": object{"const": "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"}},
			}}
			r := weather(t, dialect.ChoiceNamed, "save", long)
			r.MaxTokens = 16
			if a := d.Ask(t, r); a.First().Finish != dialect.FinishLength {
				t.Errorf(a.Exchange, "the answer ends with %q, want the reason for length", a.First().Finish)
			}
		}),
	)
}
