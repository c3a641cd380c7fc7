package grammar

import (
	"errors"
	"testing"
)

// TestArgumentsAreObjects has schemas of parameters that allow other values too, or no object.
func TestArgumentsAreObjects(t *testing.T) {
	for _, tt := range []struct {
		schema          string
		allows, forbids []string
		refusal         string
	}{
		{`{}`, []string{`{}`, `{"a":[1]}`}, []string{`1`, `"x"`, `null`, `[]`}, ""},
		{`true`, []string{`{}`}, []string{`[]`}, ""},
		{`{"unheard":{"of":1}}`, []string{`{}`}, []string{`"of"`}, ""},
		{`{"properties":{"a":{"type":"integer"}},"required":["a"]}`, []string{`{"a":1}`}, []string{`{}`, `[]`, `{"a":""}`}, ""},
		{`{"type":["object","null"],"maxProperties":0}`, []string{`{}`}, []string{`null`}, ""},
		{`{"anyOf":[{"type":"array"},{"type":"object","properties":{"b":{"type":"null"}}}]}`, []string{`{}`, `{"b":null}`}, []string{`[]`}, ""},
		{`{"enum":[1,{"a":"b"}]}`, []string{`{"a":"b"}`}, []string{`1`, `{}`}, ""},
		{`{"pattern":"^a$","minItems":2}`, []string{`{}`}, []string{`"a"`, `[1,2]`}, ""},
		{`{"$ref":"#/$defs/n","$defs":{"n":{"properties":{"next":{"$ref":"#/$defs/n"}}}}}`, []string{`{"next":{}}`}, []string{`1`}, ""},
		{`{"properties":{"self":{"$ref":"#"}}}`, []string{`{"self":{"self":{}}}`}, nil, ""},
		{`{"type":"string"}`, nil, nil, "No object can satisfy the schema."},
		{`{"enum":[1,2]}`, nil, nil, "No object can satisfy the schema."},
		{`{"$ref":"#/$defs/a","$defs":{"a":{"type":"integer"}}}`, nil, nil, "No object can satisfy the schema."},
		{`false`, nil, nil, "No object can satisfy the schema."},
	} {
		node, _, _, err := Properties(t.Context(), []byte(tt.schema))
		if tt.refusal != "" {
			if e, ok := errors.AsType[*SchemaError](err); !ok || e.Error() != tt.refusal {
				t.Errorf("%s: error %v, want %s", tt.schema, err, tt.refusal)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.schema, err)
			continue
		}
		g, err := Compile(t.Context(), node)
		if err != nil {
			t.Fatalf("%s: %v", tt.schema, err)
		}
		for _, text := range tt.allows {
			if !matches(g, text) {
				t.Errorf("%s: does not allow %s", tt.schema, text)
			}
		}
		for _, text := range tt.forbids {
			if matches(g, text) {
				t.Errorf("%s: allows %s", tt.schema, text)
			}
		}
	}
}
