package export

import (
	"errors"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/diglot/diglot/openapi"
)

const defaultMapping = "defaultMapping"

// union exports the members of a oneOf or anyOf.
func (e *exporter) union(n *yaml.Node, branches []*yaml.Node, p purpose) (*yaml.Node, error) {
	out := list()
	for _, branch := range branches {
		mark, err := e.markOf(branch)
		if err != nil {
			return nil, err
		}
		var exported *yaml.Node
		switch {
		case mark.Server == openapi.SupportRefused:
			continue
		case mark.Server == openapi.SupportIgnored && p == request && get(n, "discriminator") == nil:
			exported = e.anyOfType(branch, mark)
		case p == request && get(n, "discriminator") != nil && e.isDefault(n, branch) || mark.Server == openapi.SupportIgnored && p == request:
			exported = e.component(get(branch, "$ref").Value, request, e.discriminated(n, branch, mark))
			exported = object("$ref", exported)
		default:
			if exported, err = e.use(branch, p); err != nil {
				return nil, err
			}
		}
		out.Content = append(out.Content, exported)
	}
	if len(out.Content) == 0 {
		return nil, errors.New("no form is left")
	}
	return out, nil
}

// anyOfType is what an ignored form takes: any value of its type.
func (e *exporter) anyOfType(branch *yaml.Node, mark openapi.Mark) *yaml.Node {
	schema := object()
	if t := get(e.resolve(branch), "type"); t != nil {
		set(schema, "type", clone(t))
	}
	return note(schema, e.resolve(branch), mark)
}

func (e *exporter) isDefault(n, branch *yaml.Node) bool {
	target, ref := get(get(n, "discriminator"), defaultMapping), get(branch, "$ref")
	return target != nil && ref != nil && target.Value == ref.Value
}

// discriminated is the form of a union member that the discriminator alone selects: by its
// own values, or as the default by all that are not mapped.
func (e *exporter) discriminated(n, branch *yaml.Node, mark openapi.Mark) form {
	d := get(n, "discriminator")
	f := form{property: get(d, "propertyName").Value, free: mark.Server == openapi.SupportIgnored, others: e.isDefault(n, branch)}
	var values []string
	for value, target := range members(get(d, "mapping")) {
		if f.others || target.Value == get(branch, "$ref").Value {
			values = append(values, value)
		}
	}
	slices.Sort(values)
	f.values = strings.Join(values, " ")
	return f
}

// selected exports a component in such a form.
func (e *exporter) selected(schema *yaml.Node, f form) (*yaml.Node, error) {
	mark, err := e.mark(schema)
	if err != nil {
		return nil, err
	}
	property := object("type", text("string"))
	if values := texts(strings.Fields(f.values)); f.others {
		set(property, "not", object("enum", values))
	} else {
		set(property, "enum", values)
	}
	selects := object("type", text("object"), "required", texts([]string{f.property}), "properties", object(f.property, property))
	if f.free {
		return note(selects, schema, mark), nil
	}
	exported, err := e.schema(schema, request, asMarked)
	return object("allOf", list(exported, selects)), err
}

// discriminator leaves out the values of refused forms. Where some object is of a form
// without being told so, as by no type at all, there is none: OpenAPI would take it for the
// default, and the schemas of the forms tell them apart as well.
func (e *exporter) discriminator(n, d *yaml.Node, p purpose) (*yaml.Node, error) {
	if get(d, defaultMapping) != nil {
		return nil, nil
	}
	out := clone(d)
	branches := slices.Concat(items(get(n, "oneOf")), items(get(n, "anyOf")))
	target := func(ref string) (*yaml.Node, error) {
		i := slices.IndexFunc(branches, func(b *yaml.Node) bool { return get(b, "$ref") != nil && get(b, "$ref").Value == ref })
		if i < 0 {
			return nil, errors.New("a mapping selects no member: " + ref)
		}
		mark, err := e.markOf(branches[i])
		switch {
		case err != nil || mark.Server == openapi.SupportRefused:
			return nil, err
		case p == request && mark.Server == openapi.SupportIgnored:
			return e.component(ref, p, e.discriminated(n, branches[i], mark)), nil
		case get(branches[i], markExtension) != nil:
			return e.component(ref, p, asWritten), nil
		}
		return e.component(ref, p, asMarked), nil
	}
	for value, ref := range members(get(d, "mapping")) {
		to, err := target(ref.Value)
		if err != nil {
			return nil, err
		}
		if to == nil {
			remove(get(out, "mapping"), value)
			continue
		}
		set(get(out, "mapping"), value, to)
	}
	return out, nil
}
