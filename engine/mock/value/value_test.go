package value

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/diglot/diglot/engine/chat/grammar"
)

// write writes a value of a schema through its grammar.
func write(t *testing.T, schema string, seed uint64) ([]byte, bool) {
	t.Helper()
	node, _, err := grammar.Schema(t.Context(), []byte(schema))
	if err != nil {
		t.Fatalf("%s: %v", schema, err)
	}
	g, err := grammar.Compile(t.Context(), node)
	if err != nil {
		t.Fatalf("%s: %v", schema, err)
	}
	return Write(t.Context(), g.Matcher(), []byte(schema), seed)
}

// TestValues shows what is written.
func TestValues(t *testing.T) {
	for _, tt := range []struct{ name, schema, want string }{
		{"anything", `{}`, `"text"`},
		{"a form", `{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"},"metric":{"type":"boolean"}},"required":["city"]}`,
			`{"city": "city", "days": 1, "metric": true}`},
		{"an enum", `{"type":"string","enum":["celsius","fahrenheit"]}`, `"celsius"`},
		{"a constant", `{"const":{"a":[1,null]}}`, `{"a": [1, null]}`},
		{"an example", `{"type":"string","examples":["Köln"]}`, `"Köln"`},
		{"a default", `{"type":"integer","default":7}`, `7`},
		{"a default that does not fit", `{"type":"integer","minimum":10,"default":7}`, `10`},
		{"formats", `{"type":"object","properties":{"on":{"type":"string","format":"date"},"to":{"type":"string","format":"email"},"id":{"type":"string","format":"uuid"}}}`,
			`{"on": "2026-01-02", "to": "user@example.com", "id": "123e4567-e89b-42d3-a456-426614174000"}`},
		{"a list", `{"type":"array","items":{"type":"string"}}`, `["text"]`},
		{"a long list", `{"type":"array","items":{"type":"integer"},"minItems":3}`, `[1, 2, 3]`},
		{"dates", `{"type":"array","items":{"type":"string","format":"date"},"minItems":2,"uniqueItems":true}`, `["2026-01-02", "2026-01-03"]`},
		{"different items", `{"type":"array","items":{"type":"string"},"minItems":2,"uniqueItems":true}`, `["text", "text 2"]`},
		{"no items", `{"type":"array","maxItems":0}`, `[]`},
		{"a length", `{"type":"string","minLength":6,"maxLength":6}`, `"text t"`},
		{"a range", `{"type":"number","exclusiveMinimum":0.25,"maximum":0.75}`, `0.75`},
		{"multiples", `{"type":"integer","minimum":10,"multipleOf":7}`, `14`},
		{"null", `{"type":"null"}`, `null`},
		{"null or more", `{"type":["string","null"]}`, `"text"`},
		{"a reference", `{"$ref":"#/$defs/a","$defs":{"a":{"type":"object","properties":{"b":{"enum":[3]}}}}}`, `{"b": 3}`},
		{"a tree", `{"type":"object","properties":{"name":{"type":"string"},"child":{"anyOf":[{"$ref":"#"},{"type":"null"}]}},"required":["name","child"]}`,
			`{"name": "name", "child": {"name": "name", "child": {"name": "name", "child": {"name": "name", "child": null}}}}`},
		{"other members", `{"type":"object","additionalProperties":{"type":"integer"},"minProperties":2}`, `{"key1": 1, "key2": 1}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := write(t, tt.schema, 1)
			if !ok || string(got) != tt.want {
				t.Errorf("%s, %t; want %s", got, ok, tt.want)
			}
			if again, _ := write(t, tt.schema, 1); !bytes.Equal(got, again) {
				t.Errorf("again %s", again)
			}
		})
	}
}

// TestUnenforced writes what only the validator can judge.
func TestUnenforced(t *testing.T) {
	for _, schema := range []string{
		`{"type":"integer","not":{"const":1}}`,
		`{"oneOf":[{"type":"integer","minimum":0},{"type":"integer","maximum":5}]}`,
		`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"not":{"required":["a","b"]}}`,
		`{"type":"object","properties":{"kind":{"enum":["x","y"]},"n":{"type":"integer"}},"required":["kind"],"if":{"properties":{"kind":{"const":"x"}}},"then":{"required":["n"]},"else":{"properties":{"n":false}}}`,
		`{"type":"array","items":{"enum":["a","b","c"]},"minItems":3,"uniqueItems":true}`,
		`{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"dependentRequired":{"a":["b"]}}`,
		`{"type":"array","contains":{"const":"wanted"}}`,
		`{"type":"number","minimum":0.5,"multipleOf":0.25}`,
		`{"type":"object","patternProperties":{"^key":{"type":"string"}},"minProperties":1}`,
	} {
		got, ok := write(t, schema, 1)
		if err := judged(t, schema, got); !ok || err != nil {
			t.Errorf("%s: %s: %v", schema, got, err)
		}
	}
}

func judged(t *testing.T, schema string, value []byte) error {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(schema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("mem:///s", document); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("mem:///s")
	if err != nil {
		t.Fatalf("%s: %v", schema, err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
	if err != nil {
		return err
	}
	if !json.Valid(value) {
		return fmt.Errorf("no JSON: %s", value)
	}
	return compiled.Validate(v)
}

// TestRandomSchemas holds that a value is found for every random schema, and that a
// validator from elsewhere accepts it.
func TestRandomSchemas(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		schema := randomSchema(random, 3)
		got, ok := write(t, schema, random.Uint64())
		if !ok {
			t.Errorf("%s: nothing written", schema)
			continue
		}
		if err := judged(t, schema, got); err != nil {
			t.Errorf("%s: %s: %v", schema, got, err)
		}
	}
}

// randomSchema is a satisfiable schema with keywords of all kinds.
func randomSchema(random *rand.Rand, depth int) string {
	kinds := 8
	if depth > 0 {
		kinds = 14
	}
	sub := func() string { return randomSchema(random, depth-1) }
	a, b := random.IntN(2000)-1000, random.IntN(300)
	switch random.IntN(kinds) {
	case 0:
		return fmt.Sprintf(`{"type":"integer","minimum":%d,"maximum":%d}`, a, a+b)
	case 1:
		return fmt.Sprintf(`{"type":"number","minimum":%d.%d,"exclusiveMaximum":%d.%d}`, a, random.IntN(100), a+b+1, random.IntN(100))
	case 2:
		return fmt.Sprintf(`{"type":"string","minLength":%d,"maxLength":%d}`, b/60, b/60+b%7)
	case 3:
		formats := []string{"date", "time", "date-time", "duration", "uuid", "email", "hostname", "ipv4", "ipv6", "uri"}
		return fmt.Sprintf(`{"type":"string","format":%q}`, formats[random.IntN(len(formats))])
	case 4:
		return []string{`{"type":"string","pattern":"^[a-z\"\\\\\\s]{1,3}$"}`, `{"pattern":"\\d|^[^a-m]$","type":"string"}`, `{"pattern":"^(\\S+ )?(x|y)*$","type":"string"}`,
			`{"type":"string","pattern":"^[A-Z]{2}-[0-9]{4}(-rc[1-9])?$"}`}[random.IntN(4)]
	case 5:
		return []string{`{"enum":["a",1,null,[1,{"b":2}]]}`, `{"const":"x\u0001\"é"}`, `true`, `{"type":["boolean","null"]}`}[random.IntN(4)]
	case 6:
		return fmt.Sprintf(`{"type":"integer","multipleOf":%d,"minimum":%d}`, 1+b%9, a)
	case 7:
		return `{"type":"array","items":{"type":"string"},"minItems":2,"uniqueItems":true}`
	case 8:
		return fmt.Sprintf(`{"type":"array","items":%s,"minItems":%d,"maxItems":%d}`, sub(), b/100, b/100+b%4)
	case 9:
		return fmt.Sprintf(`{"prefixItems":[%s,%s],"items":%s,"minItems":%d,"type":"array"}`, sub(), sub(), sub(), random.IntN(4))
	case 10:
		return fmt.Sprintf(`{"anyOf":[%s,%s]}`, sub(), sub())
	case 11:
		return fmt.Sprintf(`{"type":"object","additionalProperties":%s,"maxProperties":3}`, sub())
	case 12:
		return fmt.Sprintf(`{"oneOf":[{"type":"object","properties":{"kind":{"const":"a"},"v":%s},"required":["kind"]},{"type":"object","properties":{"kind":{"const":"b"},"w":%s},"required":["kind","w"]}]}`, sub(), sub())
	}
	required := []string{``, `"a"`, `"b"`, `"a","c"`}[random.IntN(4)]
	additional := []string{`false`, `true`, sub()}[random.IntN(3)]
	return fmt.Sprintf(`{"type":"object","properties":{"a":%s,"b":%s,"c":%s},"required":[%s],"additionalProperties":%s}`, sub(), sub(), sub(), required, additional)
}

// TestHostileSchemas holds that a schema costs no more than its budget, whatever it is.
func TestHostileSchemas(t *testing.T) {
	deep := strings.Builder{}
	for i := range 40 { // alternatives that multiply
		fmt.Fprintf(&deep, `"d%d":{"oneOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, i+1, i+1)
	}
	for name, schema := range map[string]string{
		"alternatives that multiply": `{"not":{"$ref":"#/$defs/d0"},"$defs":{` + deep.String() + `"d40":{"const":1}},"type":"string"}`,
		"a list of 4000":             `{"type":"array","minItems":4000,"items":{"type":"integer"}}`,
		"a long string":              `{"type":"string","minLength":4000}`,
		"no way out":                 `{"type":"string","not":{}}`,
		"a schema elsewhere":         `{"type":"string","not":{"$ref":"#/$defs/x"},"$defs":{"x":{"const":"text"}}}`,
	} {
		if got, ok := write(t, schema, 1); ok && !json.Valid(got) {
			t.Errorf("%s: %.100s", name, got)
		}
	}
}
