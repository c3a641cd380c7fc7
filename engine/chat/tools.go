package chat

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/grammar"
)

// tool is one of the request's tools as the formats need it.
type tool struct {
	engine.Tool
	parameters []*parameter
	grammar    grammar.Node // the JSON text of the arguments
}

// parameter is one of the named arguments of a tool.
type parameter struct {
	name     string
	isString bool // the schema allows strings and nothing else
	required bool
	schema   json.RawMessage
	value    grammar.Node // what json returned; nil: not asked yet
}

// toolSet holds the tools that may be called, by name.
type toolSet map[string]*tool

// knows is the verdict on a complete name.
func (t toolSet) knows(name string) verdict {
	if t[name] == nil {
		return no
	}
	return yes
}

// newToolSet reads the tools of a request.
func newToolSet(tools []engine.Tool) toolSet {
	set := make(toolSet, len(tools))
	for _, t := range tools {
		set[t.Name] = &tool{Tool: t, parameters: parameters(t.Parameters)}
	}
	return set
}

// parameters lists the properties of a schema in its own order. A schema that
// cannot be read has none here; the grammar says what is wrong with it.
func parameters(schema json.RawMessage) []*parameter {
	var s struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if json.Unmarshal(schema, &s) != nil || len(s.Properties) == 0 {
		return nil
	}
	required := make(map[string]bool, len(s.Required))
	for _, name := range s.Required {
		required[name] = true
	}
	var list []*parameter
	d := json.NewDecoder(bytes.NewReader(s.Properties))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return list
		}
		p := &parameter{name: key.(string)} // the decoder takes no other key
		if d.Decode(&p.schema) != nil {
			return list
		}
		p.isString = isString(p.schema)
		p.required = required[p.name]
		list = append(list, p)
	}
	return list
}

// isString says whether a schema allows strings and nothing else.
func isString(schema json.RawMessage) bool {
	var s struct {
		Type any   `json:"type"`
		Enum []any `json:"enum"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return false
	}
	if s.Type != nil {
		return s.Type == "string"
	}
	return len(s.Enum) > 0 && !slices.ContainsFunc(s.Enum, func(v any) bool {
		_, ok := v.(string)
		return !ok
	})
}

// kind is the one type that the schema allows, or empty.
func (p *parameter) kind() string {
	var s struct {
		Type any `json:"type"`
	}
	if json.Unmarshal(p.schema, &s) != nil {
		return ""
	}
	kind, _ := s.Type.(string)
	return kind
}

// json is the JSON text of the parameter. A schema that needs the rest of the
// tool's, for its definitions, is not followed. The node is made once: formats
// that know two ways to write a call ask for it twice.
func (p *parameter) json() grammar.Node {
	if p.value != nil {
		return p.value
	}
	node, _, err := grammar.Schema(p.schema)
	if err != nil {
		node = grammar.JSONValue()
	}
	p.value = node
	return node
}

// words are the strings that an enumeration allows; none: any string.
func (p *parameter) words() []grammar.Node {
	var s struct {
		Enum []any `json:"enum"`
	}
	if json.Unmarshal(p.schema, &s) != nil {
		return nil
	}
	var list []grammar.Node
	for _, v := range s.Enum {
		if w, ok := v.(string); ok {
			list = append(list, grammar.Literal(w))
		}
	}
	return list
}
