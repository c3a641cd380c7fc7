package grammar

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// schemaRows are schemas without issues, and texts.
var schemaRows = map[string]struct {
	schema   string
	yes, not []string
}{
	"any": {`{}`,
		[]string{`{}`, `{ "a" : [1, -2.5e+10, null, true, "x\n\u00e9"] }`, `"é😀\ud83d\ude00"`, `[ ]`, "{\n    \"a\": [\n        1\n    ]\n}", `0`, `-0.5`},
		[]string{``, `{a:1}`, `[1,]`, `{"a":1,}`, `01`, `1.`, `.5`, `+1`, `"\x"`, "\"\n\"", `"\ud83d"`, `"\ude00"`, `nul`, ` 1`, `1 `, "\"\xff\"", `{"a" 1}`, strings.Repeat("1", 17)}},
	"false in a choice":              {`{"anyOf":[false,{"const":1}]}`, []string{`1`}, []string{`2`}},
	"types":                          {`{"type":["integer","null"]}`, []string{`12`, `-3`, `null`}, []string{`1.0`, `1e3`, `"1"`, `true`}},
	"nullable":                       {`{"type":"boolean","nullable":true}`, []string{`true`, `null`}, []string{`1`}},
	"enum":                           {`{"enum":["a","ab",1,null,{"x":[1,2]},"\"\n"]}`, []string{`"a"`, `"ab"`, `1`, `null`, `{ "x": [1, 2] }`, `"\"\n"`}, []string{`"b"`, `"abc"`, `{}`, `2`}},
	"enum and type":                  {`{"type":"string","enum":["a",1]}`, []string{`"a"`}, []string{`1`}},
	"enum and the rest":              {`{"enum":["a","abc",5,50],"minLength":2,"maximum":10}`, []string{`"abc"`, `5`}, []string{`"a"`, `50`}},
	"enum and const":                 {`{"enum":[1,2.0],"allOf":[{"const":2}]}`, []string{`2.0`}, []string{`1`, `2`}},
	"enum of objects and properties": {`{"enum":[{"k":"a"},{"k":"b"}],"properties":{"k":{"enum":["b"],"minLength":1}}}`, []string{`{"k":"b"}`}, []string{`{"k":"a"}`}},
	"object": {`{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"string"},"c":{"type":"null"}},"required":["b"]}`,
		[]string{`{"a":1,"b":"x"}`, `{"b":"x"}`, `{"b":"x","c":null}`, "{\n  \"a\": 1,\n  \"b\": \"\"\n}"},
		[]string{`{}`, `{"a":1}`, `{"b":"x","a":1}`, `{"b":"x","d":1}`, `{"b":"x",}`, `{"b":"x" "c":null}`}},
	"object, nothing required": {`{"properties":{"a":{"const":1},"b":{"const":2}}}`,
		[]string{`{}`, `{"a":1}`, `{"b":2}`, `{"a":1,"b":2}`}, []string{`{,"b":2}`, `{"a":1,}`, `1`}},
	"object, last required": {`{"properties":{"a":{"const":1},"b":{"const":2},"c":{"const":3}},"required":["c"]}`,
		[]string{`{"c":3}`, `{"a":1,"c":3}`, `{"b":2,"c":3}`, `{"a":1,"b":2,"c":3}`}, []string{`{}`, `{"a":1}`, `{"a":1,"b":2}`}},
	"no properties":                     {`{"type":"object","properties":{}}`, []string{`{}`, `{ }`}, []string{`{"a":1}`}},
	"any object":                        {`{"type":"object"}`, []string{`{}`, `{"a":{"b":[]}}`}, []string{`[]`}},
	"map":                               {`{"type":"object","additionalProperties":{"type":"integer"}}`, []string{`{}`, `{"x":1,"y":2}`}, []string{`{"x":"1"}`}},
	"map with counts":                   {`{"type":"object","minProperties":1,"maxProperties":2}`, []string{`{"a":1}`, `{"a":1,"b":2}`}, []string{`{}`, `{"a":1,"b":2,"c":3}`}},
	"map with names":                    {`{"type":"object","propertyNames":{"pattern":"^[a-z]+$"},"additionalProperties":{"type":"null"}}`, []string{`{"a":null}`}, []string{`{"A":null}`, `{"a":1}`}},
	"closed":                            {`{"type":"object","additionalProperties":false}`, []string{`{}`}, []string{`{"a":1}`}},
	"additional":                        {`{"properties":{"ab":{"type":"integer"}},"additionalProperties":{"type":"null"}}`, []string{`{"ab":1}`, `{"ab":1,"a":null,"abc":null,"b":null}`, `{"x":null}`, `{"":null}`, `{"é\n":null}`}, []string{`{"ab":null}`, `{"\u0061b":null}`, `{"a":null,"ab":1}`}},
	"required without schema":           {`{"properties":{"a":{"const":1}},"required":["z"],"additionalProperties":{"type":"string"}}`, []string{`{"z":"s"}`, `{"a":1,"z":"s","q":"t"}`}, []string{`{}`, `{"z":1}`, `{"a":1}`}},
	"a property that cannot be":         {`{"properties":{"a":false,"b":{"const":1}}}`, []string{`{}`, `{"b":1}`}, []string{`{"a":1}`}},
	"array":                             {`{"items":{"type":"boolean"},"minItems":1,"maxItems":2}`, []string{`[true]`, `[ true , false ]`}, []string{`[]`, `[true,true,true]`, `[1]`}},
	"array, none":                       {`{"type":"array","maxItems":0}`, []string{`[]`}, []string{`[1]`}},
	"prefix":                            {`{"prefixItems":[{"const":1},{"const":2}]}`, []string{`[]`, `[1]`, `[1,2]`}, []string{`[2]`, `[1,2,3]`, `[,2]`}},
	"prefix, at least":                  {`{"prefixItems":[{"const":1},{"const":2}],"minItems":2,"items":{"const":3}}`, []string{`[1,2]`, `[1,2,3,3]`}, []string{`[]`, `[1]`, `[1,2,4]`}},
	"prefix, at most":                   {`{"prefixItems":[{"const":1},{"const":2}],"maxItems":1}`, []string{`[]`, `[1]`}, []string{`[1,2]`}},
	"prefix, short":                     {`{"prefixItems":[{"const":1}],"minItems":3}`, []string{`[1,{},3]`}, []string{`[1,2]`, `[1,2,3,4]`}},
	"old tuple":                         {`{"items":[{"const":1}],"additionalItems":{"const":2}}`, []string{`[1,2,2]`}, []string{`[2]`, `[1,1]`}},
	"lengths":                           {`{"minLength":2,"maxLength":3}`, []string{`"é😀"`, `"\n\u0041b"`, `"\ud83d\ude00a"`}, []string{`"a"`, `"abcd"`, `"\ud83d\ude00"`}},
	"pattern":                           {`{"pattern":"a.c"}`, []string{`"abc"`, `"xxabcyy"`, `"a\"c"`, `"a\\c"`}, []string{`"ac"`, `"a\nc"`}},
	"pattern, whole":                    {`{"pattern":"^(foo|ba[rz])$"}`, []string{`"foo"`, `"baz"`}, []string{`"fo"`, `"xfoo"`, `"foox"`}},
	"pattern, anchors apart":            {`{"pattern":"^a|b$"}`, []string{`"a"`, `"ax"`, `"xb"`}, []string{`"xa"`, `"bx"`}},
	"pattern and lengths":               {`{"pattern":"^[a-z]+$","minLength":2,"maxLength":3}`, []string{`"ab"`, `"abc"`}, []string{`"a"`, `"abcd"`, `"AB"`}},
	"pattern that implies the lengths":  {`{"pattern":"^[a-z]{2}-[0-9]?$","minLength":2,"maxLength":4}`, []string{`"ab-"`, `"ab-1"`}, []string{`"ab"`}},
	"integers":                          {`{"type":"integer","minimum":-12,"maximum":105}`, []string{`-12`, `-9`, `-1`, `0`, `9`, `10`, `99`, `100`, `105`}, []string{`-13`, `-20`, `106`, `110`, `200`, `-0`, `1000`, `1.0`, `00`}},
	"integers, open":                    {`{"type":"integer","exclusiveMinimum":0,"exclusiveMaximum":3}`, []string{`1`, `2`}, []string{`0`, `3`}},
	"integers, draft 4":                 {`{"type":"integer","minimum":0,"exclusiveMinimum":true,"maximum":3,"exclusiveMaximum":false}`, []string{`1`, `3`}, []string{`0`, `4`}},
	"integers between fractions":        {`{"type":"integer","minimum":0.5,"maximum":2.5}`, []string{`1`, `2`}, []string{`0`, `3`}},
	"integers from":                     {`{"type":"integer","minimum":18}`, []string{`18`, `19`, `99`, `100`, `9999999999999999`}, []string{`17`, `9`, `-18`}},
	"integers below":                    {`{"type":"integer","maximum":-5}`, []string{`-5`, `-10`}, []string{`-4`, `0`, `5`}},
	"numbers":                           {`{"type":"number","minimum":0,"maximum":1}`, []string{`0`, `1`, `0.5`, `1.0`, `0.0`, `0.999`}, []string{`1.01`, `-0.1`, `2`, `1.001`, `5e-1`}},
	"numbers, open":                     {`{"type":"number","exclusiveMinimum":-1.25,"exclusiveMaximum":2.5}`, []string{`-1.24`, `-1.249`, `-1`, `0`, `2.49`, `2`, `-0.5`, `1.9`, `2.4999`}, []string{`-1.25`, `-1.250`, `-1.3`, `2.5`, `2.50`, `2.51`, `3`, `-2`}},
	"numbers with one integer part":     {`{"type":"number","minimum":1.25,"maximum":1.5}`, []string{`1.25`, `1.250`, `1.3`, `1.5`, `1.50`, `1.4999`}, []string{`1`, `1.2`, `1.249`, `1.51`, `1.501`, `2`}},
	"numbers from":                      {`{"type":"number","exclusiveMinimum":0}`, []string{`0.1`, `1`, `10.5`, `0.01`}, []string{`0`, `0.0`, `-1`}},
	"numbers below":                     {`{"type":"number","maximum":-0.5}`, []string{`-0.5`, `-0.51`, `-1`, `-20`}, []string{`-0.4`, `0`, `-0`}},
	"exponents in bounds":               {`{"type":"integer","minimum":1e1,"maximum":200E-1}`, []string{`10`, `20`}, []string{`9`, `21`}},
	"bounds of other types":             {`{"type":["string","integer"],"minimum":5}`, []string{`"x"`, `5`}, []string{`4`}},
	"any of":                            {`{"anyOf":[{"type":"string"},{"type":"object","properties":{"a":{"const":1}},"required":["a"]}]}`, []string{`"x"`, `{"a":1}`}, []string{`{}`, `1`}},
	"any of beside properties":          {`{"type":"object","properties":{"a":{"const":1},"b":{"const":2}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`, []string{`{"a":1}`, `{"b":2}`, `{"a":1,"b":2}`}, []string{`{}`}},
	"all of":                            {`{"allOf":[{"properties":{"a":{"type":"integer"}},"required":["a"]},{"properties":{"a":{"minimum":5},"b":{"const":1}}}]}`, []string{`{"a":5}`, `{"a":6,"b":1}`}, []string{`{"a":4}`, `{"b":1}`}},
	"all of closed ones":                {`{"allOf":[{"properties":{"a":{"const":1}},"additionalProperties":false},{"properties":{"b":{"const":1}}}]}`, []string{`{}`, `{"a":1}`}, []string{`{"b":1}`}},
	"all of types":                      {`{"allOf":[{"type":["string","number"]},{"type":["integer","null"]}]}`, []string{`1`}, []string{`"x"`, `1.5`, `null`}},
	"reference":                         {`{"$defs":{"p/q":{"type":"integer"}},"properties":{"a":{"$ref":"#/$defs/p~1q","description":"d"},"b":{"$ref":"#/properties/a"},"c":{"$ref":"#/$defs/p%7E1q","maximum":3}}}`, []string{`{"a":1,"b":2,"c":3}`}, []string{`{"a":"x"}`, `{"b":""}`, `{"c":4}`}},
	"recursion":                         {`{"type":"object","properties":{"v":{"type":"integer"},"next":{"anyOf":[{"$ref":"#"},{"type":"null"}]}},"required":["v","next"]}`, []string{`{"v":1,"next":{"v":2,"next":null}}`}, []string{`{"v":1}`, `{"v":1,"next":{"v":2}}`}},
	"recursion through items":           {`{"$ref":"#/definitions/t","definitions":{"t":{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#/definitions/t"}}}}}}`, []string{`{"kids":[{},{"kids":[]}]}`}, []string{`{"kids":[1]}`}},
	"recursion in all of":               {`{"$defs":{"a":{"properties":{"x":{"$ref":"#/$defs/b"}}},"b":{"allOf":[{"$ref":"#/$defs/a"},{"properties":{"x":{"$ref":"#/$defs/b"}}}]}},"$ref":"#/$defs/b"}`, []string{`{"x":{"x":{}}}`}, []string{`{"x":1}`}},
	"alternatives that need themselves": {`{"anyOf":[{"type":"null"},{"type":"object","properties":{"a":{"$ref":"#/anyOf/1"}},"required":["a"]}]}`, []string{`null`}, []string{`{"a":`}},
	"date":                              {`{"format":"date"}`, []string{`"2024-02-29"`, `"2000-02-29"`, `"2023-12-31"`}, []string{`"2023-02-29"`, `"1900-02-29"`, `"2023-13-01"`, `"2023-04-31"`}},
	"date-time":                         {`{"format":"date-time"}`, []string{`"2024-01-01T00:00:00Z"`, `"2024-01-01T23:59:59.5+01:00"`}, []string{`"2024-01-01"`, `"2024-01-01T24:00:00Z"`}},
	"uuid":                              {`{"format":"uuid"}`, []string{`"123e4567-e89b-12d3-a456-426614174000"`}, []string{`"123e4567"`}},
	"ipv4":                              {`{"format":"ipv4"}`, []string{`"0.10.199.255"`}, []string{`"256.0.0.1"`, `"1.2.3"`, `"01.2.3.4"`}},
	"ipv6":                              {`{"format":"ipv6"}`, []string{`"::"`, `"::1"`, `"2001:db8::ff"`, `"::ffff:1.2.3.4"`, `"1:2:3:4:5:6:7:8"`}, []string{`":::"`, `"1:2"`, `"1::2::3"`}},
	"email":                             {`{"format":"email"}`, []string{`"a.b+c@example.org"`}, []string{`"a@"`, `"a b@example.org"`, `"a@b"`}},
	"other format":                      {`{"format":"uri"}`, []string{`"https://x"`, `"any"`}, []string{`1`}},
	"annotations":                       {`{"x-thing":{"type":5},"title":"t","type":"null","uniqueItems":false,"required":[]}`, []string{`null`}, []string{`1`}},
}

func TestSchema(t *testing.T) {
	for name, row := range schemaRows {

		n, issues, err := Schema(context.Background(), json.RawMessage(row.schema))
		if err != nil || issues != nil {
			t.Errorf("%s: got issues %v, error %v", name, issues, err)
			continue
		}
		g := compile(t, n)
		for _, text := range row.yes {
			if !matches(g, text) {
				t.Errorf("%s: %s is not accepted", name, text)
			}
		}
		for _, text := range row.not {
			if matches(g, text) {
				t.Errorf("%s: %s is accepted", name, text)
			}
		}
	}
}

func TestIssues(t *testing.T) {
	for name, row := range map[string]struct {
		schema string
		want   []Issue
	}{
		"keywords": {`{"type":"object","not":{},"properties":{"a":{"type":"array","uniqueItems":true,"contains":{}},"b/c":{"multipleOf":0.01}},"if":true}`,
			[]Issue{{"", "not"}, {"", "if"}, {"/properties/a", "uniqueItems"}, {"/properties/a", "contains"}, {"/properties/b~1c", "multipleOf"}}},
		"look-around":             {`{"pattern":"^(?!x)a"}`, []Issue{{"", "pattern"}}},
		"back reference":          {`{"pattern":"(a)\\1"}`, []Issue{{"", "pattern"}}},
		"large count":             {`{"pattern":"a{2000}"}`, []Issue{{"", "pattern"}}},
		"two patterns":            {`{"pattern":"a","allOf":[{"pattern":"b"}]}`, []Issue{{"/allOf/0", "pattern"}}},
		"pattern and lengths":     {`{"pattern":"^a*b*$","minLength":1,"maxLength":9}`, []Issue{{"", "minLength"}, {"", "maxLength"}}},
		"pattern without an end":  {`{"pattern":"^a{3}","minLength":3,"maxLength":9}`, []Issue{{"", "maxLength"}}},
		"counts of properties":    {`{"properties":{"a":{},"b":{}},"minProperties":1,"maxProperties":1}`, []Issue{{"", "minProperties"}, {"", "maxProperties"}}},
		"counts that are implied": {`{"properties":{"a":{},"b":{}},"required":["a"],"minProperties":1,"maxProperties":2}`, nil},
		"names":                   {`{"properties":{"a":{}},"additionalProperties":true,"propertyNames":{"maxLength":3}}`, []Issue{{"", "propertyNames"}}},
		"once":                    {`{"$defs":{"a":{"type":"string","not":{}}},"properties":{"x":{"$ref":"#/$defs/a"},"y":{"anyOf":[{"$ref":"#/$defs/a"},{"type":"null"}]}}}`, []Issue{{"/$defs/a", "not"}}},
	} {
		_, issues, err := Schema(context.Background(), json.RawMessage(row.schema))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(row.want, issues); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestSchemaErrors(t *testing.T) {
	wide := `{"allOf":[` + strings.Repeat(`{"anyOf":[{"minimum":1},{"minimum":2},{"maximum":9},{"title":""}]},`, 8) + `true]}`
	for name, row := range map[string]struct{ schema, pointer, reason string }{
		"not JSON":             {`{"type":`, "/type", "not valid JSON"},
		"two values":           {`{} {}`, "", "more text"},
		"not a schema":         {`[]`, "", "object or a boolean"},
		"false":                {`false`, "", "No value"},
		"inner":                {`{"properties":{"a":5}}`, "/properties/a", "object or a boolean"},
		"type":                 {`{"type":"text"}`, "", "type must"},
		"no types":             {`{"type":[]}`, "", "type must"},
		"enum":                 {`{"enum":[]}`, "", "enum must"},
		"required":             {`{"required":"a"}`, "", "required must"},
		"properties":           {`{"properties":[]}`, "", "properties must"},
		"any of":               {`{"anyOf":[]}`, "", "anyOf must"},
		"length":               {`{"minLength":-1}`, "", "minLength must"},
		"bound":                {`{"minimum":"1"}`, "", "minimum must"},
		"huge bound":           {`{"minimum":1e999999999}`, "", "more digits"},
		"pattern":              {`{"items":{"pattern":"(a"}}`, "/items", "not a regular expression"},
		"pattern bounds":       {`{"pattern":"a{3,1}"}`, "", "not a regular expression"},
		"lengths":              {`{"minLength":3,"maxLength":2}`, "", "above"},
		"bounds":               {`{"properties":{"a":{"minimum":3,"exclusiveMaximum":3}},"required":["a"]}`, "/properties/a", "above"},
		"items":                {`{"minItems":3,"allOf":[{"maxItems":2}]}`, "/allOf/0", "above"},
		"members":              {`{"minProperties":3,"maxProperties":2}`, "", "above"},
		"reference":            {`{"properties":{"a":{"$ref":"#/$defs/x"}}}`, "/properties/a", "$ref"},
		"anchor":               {`{"$ref":"#x"}`, "", "$ref"},
		"elsewhere":            {`{"$ref":"https://example.org/s.json"}`, "", "$ref"},
		"loop":                 {`{"$ref":"#"}`, "", "refers to itself"},
		"longer loop":          {`{"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"},{"type":"null"}]},"b":{"allOf":[{"$ref":"#/$defs/a"}]}},"$ref":"#/$defs/a"}`, "/$defs/a", "refers to itself"},
		"endless":              {`{"properties":{"a":{"$ref":"#"}},"required":["a"]}`, "", "No value"},
		"contradiction":        {`{"type":"string","enum":[1]}`, "", "No value"},
		"needs what cannot be": {`{"properties":{"a":false},"required":["a"]}`, "", "No value"},
		"what is left out":     {`{"patternProperties":{"^x":{"type":"integer"}},"additionalProperties":false,"minProperties":1}`, "", "without the keyword \"patternProperties\""},
		"deep":                 {strings.Repeat(`{"items":`, 200) + `{}` + strings.Repeat(`}`, 200), strings.Repeat("/items", 129), "nested deeper"},
		"alternatives":         {wide, "/allOf/5", "alternatives"},
	} {
		_, _, err := Schema(context.Background(), json.RawMessage(row.schema))
		var got *SchemaError
		if !errors.As(err, &got) {
			t.Errorf("%s: got %v, want a *SchemaError", name, err)
			continue
		}
		if got.Pointer != row.pointer || !strings.Contains(got.Reason, row.reason) {
			t.Errorf("%s: got %q: %s, want %q: %s", name, got.Pointer, got.Reason, row.pointer, row.reason)
		}
	}
}

// Large schemas are enforced or refused, and neither takes long.
func TestLargeSchemas(t *testing.T) {
	var names, chain, enum []string
	for i := range 4_000 {
		names = append(names, fmt.Sprintf(`"name_%d":{"$ref":"#/$defs/d%d"}`, i, i))
		chain = append(chain, fmt.Sprintf(`"d%d":{"$ref":"#/$defs/d%d"}`, i, i+1))
		enum = append(enum, fmt.Sprintf(`"value %d"`, i))
	}
	list := func(l []string) string { return strings.Join(l, ",") }
	last := `,"d4000":{"type":"null"}`
	for name, row := range map[string]struct {
		schema, text string
		refused      bool
	}{
		"properties": {`{"properties":{` + list(names) + `},"additionalProperties":true,"$defs":{` + list(chain) + last + `}}`,
			`{"name_7":null,"name_3999":null,"name_4000":1}`, false},
		"references behind references": {`{"$ref":"#/$defs/d0","minimum":1,"$defs":{` + strings.ReplaceAll(list(chain), `}`, `,"minimum":0}`) + last + `}}`, "", true},
		"enum":                         {`{"enum":[` + list(enum) + `]}`, `"value 3999"`, false},
		"counts":                       {`{"maxItems":2000000000,"items":{"type":"string","minLength":100000,"maxLength":100001}}`, `["` + strings.Repeat("é", 100_001) + `"]`, false},
		"long name":                    {`{"properties":{"` + strings.Repeat("n", 20_000) + `":{}}}`, "", true},
		"long enum":                    {`{"enum":["` + strings.Repeat("n", 100_000) + `","` + strings.Repeat("n", 100_001) + `"]}`, `"` + strings.Repeat("n", 100_001) + `"`, false},
		"long prefix":                  {`{"prefixItems":[` + strings.Repeat("{},", 6_000) + `{}]}`, "", true},
	} {
		n, _, err := Schema(context.Background(), json.RawMessage(row.schema))
		if (err != nil) != row.refused {
			t.Errorf("%s: got error %v, want one: %t", name, err, row.refused)
		}
		if err == nil && !matches(compile(t, n), row.text) {
			t.Errorf("%s: %.60s is not accepted", name, row.text)
		}
	}
}
