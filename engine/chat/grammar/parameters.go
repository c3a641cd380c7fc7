package grammar

import (
	"context"
	"encoding/json"
	"errors"
)

// Property is a property of a schema's root.
type Property struct {
	Name     string
	Required bool
	Type     string   // empty: none or several
	Words    []string // the strings of its enum
	IsString bool     // its type or enum allows only strings
	Value    Node     // of [Schema]
}

// Properties is [Schema] of the objects alone, with the properties of the root, in the
// order of the schema. Arguments of a call are an object, whether the schema says so or not.
func Properties(ctx context.Context, schema json.RawMessage) (Node, []Property, []Issue, error) {
	r, err := readSchema(ctx, schema, true)
	if err != nil {
		return nil, nil, nil, err
	}
	return r.source.root, r.rootProperties, r.issues, nil
}

// anyObject is the schema {"type": "object"}, beside that of a request.
func anyObject() *tree {
	t := &tree{kind: kindObject, number: -1}
	t.members = []member{{"type", &tree{kind: kindString, text: "object", name: "type", parent: t, number: -2}}}
	return t
}

// readProperties fills r.each.
func (r *reader) readProperties() {
	named := r.root.get("properties")
	if named == nil {
		return
	}
	required := map[string]bool{}
	if list := r.root.get("required"); list != nil {
		r.meter.spend(len(list.items), setEntryBytes*len(list.items))
		for _, name := range list.items {
			required[name.text] = true
		}
	}
	for _, m := range named.members {
		r.meter.spend(4, 1500) // with the nodes that a format makes of it
		p := Property{Name: m.name, Required: required[m.name]}
		p.describe(r.meter, m.value)
		p.Value = r.property(m.value)
		r.rootProperties = append(r.rootProperties, p)
	}
}

// property returns the node of a property. Errors in it that do not affect the whole
// schema, such as properties of a type other than object, are ignored.
func (r *reader) property(t *tree) Node {
	n, err := r.read([]*tree{t})
	switch {
	case errors.Is(err, ErrTooLarge):
		panic(halt{err}) // settle makes an error of it
	case err != nil:
		r.pending, r.deferred = nil, nil
		return JSONValue()
	}
	return n
}

// describe fills in what the keywords type and enum say.
func (p *Property) describe(m *meter, t *tree) {
	named := t.get("type")
	if named != nil && named.kind == kindString {
		p.Type = named.text
	}
	list := t.get("enum")
	if list == nil || list.kind != kindArray {
		p.IsString = p.Type == "string"
		return
	}
	m.spend(len(list.items)/8, 32*len(list.items))
	for _, v := range list.items {
		if v.kind == kindString {
			p.Words = append(p.Words, v.text)
		}
	}
	p.IsString = p.Type == "string" || named == nil && len(list.items) > 0 && len(p.Words) == len(list.items)
}
