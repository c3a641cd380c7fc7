package value

import (
	"bytes"
	"errors"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// judge is the last word on a value: what the grammar does not enforce. Nil accepts all.
type judge struct {
	root   *node
	schema *jsonschema.Schema
}

// Limits of a schema to judge by. The validator cannot be interrupted, so that its work is
// counted before.
const (
	maxJudged = 256 << 10 // bytes
	maxWork   = 50_000    // schemas looked at for one value
)

// unenforced are keywords that no grammar enforces, at least beside some others.
var unenforced = []string{"not", "oneOf", "if", "contains", "uniqueItems", "multipleOf", "patternProperties", "propertyNames",
	"dependentRequired", "dependentSchemas", "dependencies", "unevaluatedProperties", "unevaluatedItems",
	"minProperties", "maxProperties", "minLength", "maxLength", "pattern", "format"}

// newJudge compiles a schema; nil if there is nothing to judge, or no way to.
func newJudge(schema []byte, root *node) *judge {
	if root == nil || len(schema) > maxJudged || !slices.ContainsFunc(unenforced, func(keyword string) bool {
		return bytes.Contains(schema, []byte(`"`+keyword+`"`))
	}) {
		return nil
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil
	}
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(noLoader{})
	compiler.AssertFormat()
	const name = "mem:///schema"
	if err := compiler.AddResource(name, document); err != nil {
		return nil
	}
	compiled, err := compiler.Compile(name)
	if err != nil {
		return nil
	}
	return &judge{root, compiled}
}

// accepts reports whether a value follows the schema. One that would be too much work
// passes.
func (j *judge) accepts(value []byte) bool {
	if j == nil {
		return true
	}
	w := work{root: j.root, known: map[pair]int{}}
	if w.of(j.root, parse(value)) > maxWork {
		return true
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
	return err == nil && j.schema.Validate(v) == nil
}

// noLoader loads no schema from elsewhere: neither files nor hosts.
type noLoader struct{}

// Load implements [jsonschema.URLLoader].
func (noLoader) Load(string) (any, error) {
	return nil, errors.New("schemas of other places are not loaded")
}

// work counts how many schemas a validator looks at for a value: alternatives within
// alternatives multiply.
type work struct {
	root  *node
	known map[pair]int
}

type pair struct{ schema, value *node }

// inPlace are keywords with schemas of the same value.
var inPlace = []string{"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"}

// inside are keywords with one schema for all parts of a value.
var inside = []string{"additionalProperties", "items", "additionalItems", "contains", "unevaluatedItems", "unevaluatedProperties", "propertyNames"}

// of is the work for one schema and value. A schema that is found within itself, for the
// same value, is too much.
func (w *work) of(schema, value *node) int {
	if schema == nil || value == nil || schema.kind != '{' {
		return 1
	}
	key := pair{schema, value}
	if known, ok := w.known[key]; ok {
		return known
	}
	w.known[key] = maxWork + 1 // until it is known
	total := 1
	h := hints{root: w.root}
	if ref := schema.get("$ref").text(); ref != "" {
		total += w.of(h.target(ref), value)
	}
	for _, keyword := range inPlace {
		total += w.all(schema.get(keyword), value)
	}
	for _, name := range value.names {
		total = min(total, maxWork) + w.part(schema, value.members[name], name)
	}
	for i, item := range value.items {
		total = min(total, maxWork) + w.part(schema, item, "") + w.listed(schema, item, i)
	}
	w.known[key] = min(total, maxWork+1)
	return w.known[key]
}

// all is the work for a schema, or for all schemas of a list or an object.
func (w *work) all(schemas, value *node) int {
	if schemas == nil {
		return 0
	}
	total := w.of(schemas, value)
	for _, item := range schemas.items {
		total = min(total, maxWork) + w.of(item, value)
	}
	for _, name := range schemas.names {
		if child := schemas.members[name]; child.kind == '{' {
			total = min(total, maxWork) + w.of(child, value)
		}
	}
	return total
}

// part is the work for a member or an item.
func (w *work) part(schema, value *node, name string) int {
	total := w.of(schema.get("properties").get(name), value)
	for _, keyword := range inside {
		total = min(total, maxWork) + w.of(schema.get(keyword), value)
	}
	if patterns := schema.get("patternProperties"); patterns != nil {
		for _, p := range patterns.names {
			total = min(total, maxWork) + w.of(patterns.members[p], value)
		}
	}
	return total
}

// listed is the work for an item that has a schema of its own.
func (w *work) listed(schema, value *node, i int) int {
	total := 0
	for _, keyword := range []string{"prefixItems", "items"} {
		if list := schema.get(keyword); list != nil && i < len(list.items) {
			total += w.of(list.items[i], value)
		}
	}
	return total
}
