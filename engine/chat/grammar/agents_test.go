package grammar

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// words is a description of about n bytes.
func words(n int) string {
	const text = "Searches the repository for files that match, and returns their paths with the lines around each hit; use it before you edit. "
	return strings.Repeat(text, n/len(text)+1)[:n]
}

// agentSchemas are about 64 KB each, as agents and the libraries that write
// their schemas send them. Where a text is not anything, examples has one.
var agentSchemas = map[string][]string{
	"two dozen tools":      agentTools(24),
	"one wide object":      {wideTool(220, `,"additionalProperties":true`)},
	"one wide and closed":  {wideTool(220, `,"additionalProperties":false`)},
	"models with nulls":    {modelsWithNulls(48)},
	"a union of kinds":     {unionOfKinds(60)},
	"deep objects":         {deepObjects(5, 4)},
	"long lists of values": {longEnums()},
	"recursive documents":  {recursiveDocument(90)},
}

func agentTools(n int) []string {
	list := make([]string, n)
	for i := range n {
		list[i] = fmt.Sprintf(`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","description":%q,"properties":{`+
			`"path":{"type":"string","description":%q,"minLength":1},`+
			`"mode_%d":{"type":"string","enum":["read","write","append","create","delete","move","copy","link"],"description":%q,"default":"read"},`+
			`"limit":{"type":"integer","minimum":1,"maximum":%d,"description":%q},`+
			`"ratio":{"type":"number","minimum":0,"maximum":1,"examples":[0.5]},`+
			`"since":{"type":"string","format":"date-time","examples":["2024-01-01T00:00:00Z"]},`+
			`"glob":{"type":"string","pattern":"^[A-Za-z0-9_*./-]+$","examples":["src/*.go"]},`+
			`"edits":{"type":"array","minItems":1,"maxItems":50,"items":{"type":"object","description":%q,"properties":{`+
			`"old":{"type":"string"},"new":{"type":"string"},"all":{"type":"boolean"},`+
			`"range":{"type":"array","prefixItems":[{"type":"integer"},{"type":"integer"}],"items":false,"minItems":2},`+
			`"kind":{"enum":["line","block","file",null]}},"required":["old","new"],"additionalProperties":false}},`+
			`"options":{"type":"object","properties":{"follow":{"type":["boolean","null"]},"depth":{"type":"integer"},"tags":{"type":"array","items":{"type":"string"},"uniqueItems":true}},"additionalProperties":{"type":"string"}}`+
			`},"required":["path","edits"],"additionalProperties":false}`, words(600), words(180), i, words(120), 100+i, words(200), words(150))
	}
	return list
}

func wideTool(n int, rest string) string {
	return `{"type":"object","properties":{` + many(n, func(i int) string {
		return fmt.Sprintf(`"setting_%d_of_the_project":{"description":%q,%s}`, i, words(180), []string{
			`"type":"string","maxLength":200`, `"type":"integer","minimum":0`, `"type":"boolean"`, `"type":["string","null"]`,
			`"type":"array","items":{"type":"string"},"maxItems":20`, `"enum":["on","off","auto"]`, `"type":"number"`}[i%7])
	}) + `},"required":["setting_0_of_the_project","setting_7_of_the_project"]` + rest + `}`
}

// modelsWithNulls is what libraries make of classes with optional fields.
func modelsWithNulls(n int) string {
	return `{"$defs":{` + many(n, func(i int) string {
		return fmt.Sprintf(`"Model%d":{"title":"Model%d","type":"object","properties":{`+
			`"name":{"title":"Name","type":"string","description":%q},`+
			`"parent":{"anyOf":[{"$ref":"#/$defs/Model%d"},{"type":"null"}],"default":null,"description":%q},`+
			`"children":{"title":"Children","type":"array","items":{"$ref":"#/$defs/Model%d"},"default":[]},`+
			`"amount":{"anyOf":[{"type":"number"},{"type":"string","pattern":"^[-+]?\\d+(\\.\\d+)?$"},{"type":"null"}],"title":"Amount"},`+
			`"at":{"anyOf":[{"type":"string","format":"date-time","examples":["2024-01-01T00:00:00Z"]},{"type":"null"}]},`+
			`"meta":{"allOf":[{"$ref":"#/$defs/Meta"}],"description":%q}},`+
			`"required":["name","amount"],"additionalProperties":false}`, i, i, words(200), (i+1)%n, words(150), (i+7)%n, words(150))
	}) + `,"Meta":{"type":"object","additionalProperties":{"anyOf":[{"type":"string"},{"type":"integer"},{"type":"array","items":{"type":"string"}}]}}},` +
		`"title":"Request","type":"object","properties":{"root":{"$ref":"#/$defs/Model0"},"all":{"type":"array","items":{"$ref":"#/$defs/Model3"}}},"required":["root"]}`
}

func unionOfKinds(n int) string {
	return `{"type":"object","properties":{"steps":{"type":"array","minItems":1,"items":{"oneOf":[` + many(n, func(i int) string {
		return fmt.Sprintf(`{"type":"object","properties":{"type":{"const":"step_%d"},"id":{"type":"string","format":"uuid","examples":["123e4567-e89b-12d3-a456-426614174000"]},`+
			`"text":{"type":"string","description":%q},"count":{"type":"integer","minimum":%d,"maximum":%d},"to":{"type":"string","format":"email","examples":["a@example.org"]},`+
			`"args":{"type":"object","additionalProperties":{"type":["string","number","boolean","null"]}}},"required":["type","text"],"additionalProperties":false}`, i, words(500), i, 1000*i+7)
	}) + `]}}},"required":["steps"],"additionalProperties":false}`
}

func deepObjects(depth, wide int) string {
	if depth == 0 {
		return `{"type":"string","description":"` + words(20) + `"}`
	}
	return `{"type":"object","properties":{` + many(wide, func(i int) string {
		return fmt.Sprintf(`"level%d_%d":%s`, depth, i, deepObjects(depth-1, wide))
	}) + `},"required":["level` + fmt.Sprint(depth) + `_0"]}`
}

func longEnums() string {
	return `{"type":"object","properties":{` + many(8, func(i int) string {
		return fmt.Sprintf(`"zone%d":{"type":"string","enum":[%s]}`, i, many(300, func(j int) string {
			return fmt.Sprintf(`"Region_%d/City_of_%c%c_%d"`, j%17, 'A'+j%26, 'a'+i, j*7919%1000)
		}))
	}) + `},"required":["zone0","zone3"],"additionalProperties":false}`
}

func recursiveDocument(n int) string {
	return `{"$ref":"#/definitions/node","definitions":{"node":{"type":"object","properties":{"tag":{"enum":["p","ul","li","table"]},"children":{"type":"array","items":{"anyOf":[{"$ref":"#/definitions/node"},{"type":"string"}]}},` +
		many(n, func(i int) string {
			return fmt.Sprintf(`"style_%d":{"type":["string","null"],"description":%q}`, i, words(600))
		}) + `},"required":["tag","children"]}}}`
}

// What agents send passes, with a part of the budget, and what their schemas
// mean can be written.
func TestAgentSchemas(t *testing.T) {
	limits := DefaultLimits()
	for _, name := range slices.Sorted(maps.Keys(agentSchemas)) {
		ctx := newBudgeted(limits)
		before, size, program := allocated(), 0, 0
		for _, schema := range agentSchemas[name] {
			size += len(schema)
			g, err := compileSchema(ctx, schema)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			program += len(g.prog)
			root, err := parseTree(nil, json.RawMessage(schema))
			if err != nil {
				t.Fatal(err)
			}
			for _, all := range []bool{false, true} {
				if text := instance(root, root, all, 0); !matches(g, text) {
					t.Errorf("%s: %.300s is not accepted", name, text)
				}
			}
		}
		used := ctx.budget.Used()
		t.Logf("%s: %d bytes, %d steps, %d bytes counted, %d allocated, %d instructions", name, size, used.Steps, used.Bytes, allocated()-before, program)
		if size < 50_000 {
			t.Errorf("%s: only %d bytes", name, size)
		}
		if 3*used.Steps > limits.Steps || 3*used.Bytes > limits.Bytes {
			t.Errorf("%s: it takes %v of %v", name, used, limits)
		}
	}
}

// instance is a value that satisfies a schema, with the members that are
// required or with all of them, as far as recursion allows.
func instance(root, t *tree, all bool, depth int) string {
	if ref := t.get("$ref"); ref != nil {
		r := reader{root: root}
		target, err := r.resolve(t, ref)
		if err != nil {
			return err.Error()
		}
		return instance(root, target, all, depth)
	}
	for _, key := range []string{"examples", "enum", "anyOf", "oneOf", "allOf"} {
		if list := t.get(key); list != nil {
			pick := list.items[0]
			if depth > 6 || !all {
				pick = list.items[len(list.items)-1]
			}
			if key == "examples" || key == "enum" {
				return string(pick.appendJSON(nil, nil))
			}
			return instance(root, pick, all, depth+1)
		}
	}
	if value := t.get("const"); value != nil {
		return string(value.appendJSON(nil, nil))
	}
	kind := t.get("type")
	if kind != nil && kind.kind == kindArray {
		kind = kind.items[0]
	}
	switch kind.text {
	case "object":
		return instanceObject(root, t, all, depth)
	case "array":
		return instanceArray(root, t, all, depth)
	case "integer", "number":
		if least := t.get("minimum"); least != nil {
			return least.text
		}
		return "7"
	case "boolean":
		return "true"
	case "null":
		return "null"
	}
	if t.get("pattern") != nil {
		return `"12.5"`
	}
	return `"a text"`
}

func instanceObject(root, t *tree, all bool, depth int) string {
	required := map[string]bool{}
	if list := t.get("required"); list != nil {
		for _, name := range list.items {
			required[name.text] = true
		}
	}
	var members []string
	if properties := t.get("properties"); properties != nil {
		for _, m := range properties.members {
			if required[m.name] || all && depth < 8 {
				members = append(members, quote(m.name)+": "+instance(root, m.value, all, depth+1))
			}
		}
	}
	if more := t.get("additionalProperties"); all && more != nil && !(more.kind == kindBool && !more.yes) {
		value := `"more"`
		if more.kind == kindObject {
			value = instance(root, more, all, depth+1)
		}
		members = append(members, `"another name": `+value)
	}
	return "{" + strings.Join(members, ", ") + "}"
}

func instanceArray(root, t *tree, all bool, depth int) string {
	var items []string
	if prefix := t.get("prefixItems"); prefix != nil {
		for _, item := range prefix.items {
			items = append(items, instance(root, item, all, depth+1))
		}
	} else if t.get("minItems") != nil || all && depth < 6 {
		items = append(items, instance(root, t.get("items"), all, depth+1))
	}
	return "[" + strings.Join(items, ", ") + "]"
}
