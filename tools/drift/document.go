package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/diglot/diglot/tools/internal/comparison"
)

// types are the types of an SDK as JSON Schemas.
type types struct {
	Types    map[string]any    `json:"types"`
	Schemas  map[string]any    `json:"schemas"`  // that types refer to
	Versions map[string]string `json:"versions"` // by package
}

type object = map[string]any

const jsonType = "application/json"

// document makes an OpenAPI document of an SDK's types: what the vendor would take and
// send if the SDK were all that is known of it.
func (t types) document(title string, parts []part, s sdk) (*comparison.Document, error) {
	paths := object{}
	for _, p := range parts {
		if p.Route == everyRoute {
			continue
		}
		schema, err := t.schema(p, s)
		if err != nil {
			return nil, err
		}
		method, path, _ := strings.Cut(p.Route, " ")
		if err := t.put(inside(paths, path, strings.ToLower(method)), p.Part, schema); err != nil {
			return nil, fmt.Errorf("%s: %w", p.Route, err)
		}
	}
	for _, p := range parts {
		if p.Route != everyRoute {
			continue
		}
		schema, err := t.schema(p, s)
		if err != nil {
			return nil, err
		}
		for _, item := range paths {
			for _, operation := range item.(object) {
				inside(operation.(object), "responses", "400", "content", jsonType)["schema"] = schema
			}
		}
	}
	text, err := json.Marshal(object{
		"openapi":    "3.1.0",
		"info":       object{"title": title},
		"paths":      paths,
		"components": object{"schemas": t.Schemas},
	})
	if err != nil {
		return nil, err
	}
	return comparison.Parse(text)
}

func (t types) schema(p part, s sdk) (any, error) {
	schema, ok := t.Types[s.name(p)]
	if !ok {
		return nil, fmt.Errorf("%s, %s: there is no type %q", p.Route, p.Part, s.name(p))
	}
	if p.Member != "" {
		schema = object{"type": "object", "properties": object{p.Member: schema}}
	}
	return schema, nil
}

// put enters the schema of a part into an operation.
func (t types) put(operation object, part string, schema any) error {
	switch part {
	case "body":
		inside(operation, "requestBody", "content", jsonType)["schema"] = schema
	case "query":
		operation["parameters"] = t.parameters(schema)
	case "reply":
		inside(operation, "responses", "200", "content", jsonType)["schema"] = schema
	case "event":
		inside(operation, "responses", "200", "content", "text/event-stream")["schema"] = schema
	default:
		return fmt.Errorf("unknown part %q", part)
	}
	return nil
}

// parameters makes parameters of the members of an object. The SDKs write the name of a list
// with brackets.
func (t types) parameters(schema any) []any {
	o, _ := schema.(object)
	for o != nil && o["$ref"] != nil {
		ref, _ := o["$ref"].(string)
		o, _ = t.Schemas[strings.TrimPrefix(ref, "#/components/schemas/")].(object)
	}
	members, _ := o["properties"].(object)
	var all []any
	for _, name := range slices.Sorted(maps.Keys(members)) {
		in := object{"in": "query", "name": name, "schema": members[name]}
		if s, ok := members[name].(object); ok && s["type"] == "array" {
			in["name"] = name + "[]"
		}
		all = append(all, in)
	}
	return all
}

// inside returns the object at a path of names, creating what is missing.
func inside(o object, names ...string) object {
	for _, name := range names {
		below, ok := o[name].(object)
		if !ok {
			below = object{}
			o[name] = below
		}
		o = below
	}
	return o
}
