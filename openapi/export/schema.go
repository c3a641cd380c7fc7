package export

import (
	"encoding/json/v2"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/diglot/diglot/openapi"
)

// purpose is the direction in which a value goes.
type purpose string

const (
	request purpose = "-Input"
	reply   purpose = "-Output"
)

const (
	markExtension   = "x-support"
	valuesExtension = "x-support-values"
	componentPath   = "#/components/"
	schemaPath      = componentPath + "schemas/"
)

// mark reads the mark of a node in force under the profile.
func (e *exporter) mark(n *yaml.Node) (openapi.Mark, error) {
	return readMark(get(n, markExtension), e.document.Profile)
}

func readMark(n *yaml.Node, profile openapi.Profile) (openapi.Mark, error) {
	var value any
	if n != nil {
		if err := n.Decode(&value); err != nil {
			return openapi.Mark{}, err
		}
	}
	mark, err := openapi.ParseMark(value)
	return mark.Narrow(profile), err
}

// markOf reads the mark of a use: its own, else that of the component.
func (e *exporter) markOf(n *yaml.Node) (openapi.Mark, error) {
	if ref := get(n, "$ref"); ref != nil && get(n, markExtension) == nil {
		return e.mark(e.resolve(n))
	}
	return e.mark(n)
}

// resolve follows the reference of a schema, if it is one.
func (e *exporter) resolve(n *yaml.Node) *yaml.Node {
	ref := get(n, "$ref")
	if ref == nil {
		return n
	}
	return get(get(get(e.source, "components"), "schemas"), strings.TrimPrefix(ref.Value, schemaPath))
}

// use exports a schema in its place: an item, a union member, or a whole body.
func (e *exporter) use(n *yaml.Node, p purpose) (*yaml.Node, error) {
	mark, err := e.markOf(n)
	if err != nil {
		return nil, err
	}
	switch {
	case mark.Server == openapi.SupportRefused && p == reply && mark.Instead == nil:
		return note(object("not", object()), n, mark), nil
	case mark.Server == openapi.SupportRefused && p == reply:
		return note(object("enum", list(fromJSON(mark.Instead))), n, mark), nil
	case mark.Server == openapi.SupportRefused:
		return note(object("type", text("null")), n, mark), nil
	case mark.Server == openapi.SupportIgnored && p == request:
		return note(object(), n, mark), nil
	}
	form := asWritten
	if get(n, markExtension) == nil {
		form = asMarked
	}
	exported, err := e.schema(n, p, form)
	if err == nil && form == asWritten && mark.Only != nil && p == request {
		return limit(exported, mark)
	}
	return exported, err
}

// note describes what replaces a schema: in words of the schema, and why.
func note(schema, written *yaml.Node, mark openapi.Mark) *yaml.Node {
	described := object()
	description := ""
	if d := get(written, "description"); d != nil {
		description = strings.TrimSpace(d.Value)
	}
	if mark.Note != "" {
		description = strings.TrimSpace(description + " " + map[openapi.Support]string{
			openapi.SupportRefused: "Not supported: ", openapi.SupportIgnored: "Has no effect: ",
		}[mark.Server] + mark.Note)
	}
	if description != "" {
		set(described, "description", text(description))
	}
	for name, value := range members(schema) {
		set(described, name, value)
	}
	if deprecated := get(written, "deprecated"); deprecated != nil {
		set(described, "deprecated", deprecated)
	}
	set(described, markExtension, object("document", text(string(mark.Document)), "server", text(string(mark.Server))))
	return described
}

// limit narrows a schema by the one in a mark, which does not see null.
func limit(schema *yaml.Node, mark openapi.Mark) (*yaml.Node, error) {
	only := fromJSON(mark.Only)
	if value := onlyBoolean(only); value != nil {
		withNull := holds(get(schema, "type"), "null")
		set(schema, "type", text("boolean"))
		set(schema, "const", value)
		if withNull {
			return nullable(schema), nil
		}
		return schema, nil
	}
	nullable(only)
	conflict := get(schema, "$ref") != nil || get(schema, "allOf") != nil
	for name := range members(only) {
		conflict = conflict || get(schema, name) != nil && !implied(get(schema, name))
	}
	if conflict {
		return object("allOf", list(schema, only)), nil
	}
	for name, value := range members(only) {
		set(schema, name, value)
	}
	return schema, nil
}

// onlyBoolean returns the one boolean that a limit leaves, or nil. Generators know it as a
// constant, and not as an enum.
func onlyBoolean(only *yaml.Node) *yaml.Node {
	if values := items(get(only, "enum")); len(values) == 1 && values[0].ShortTag() == "!!bool" {
		return values[0]
	}
	return nil
}

// schema exports a schema without the mark of its place.
func (e *exporter) schema(n *yaml.Node, p purpose, as form) (*yaml.Node, error) {
	out := object()
	out.Style = n.Style
	for name, value := range members(n) {
		var err error
		switch name {
		case "$ref":
			value = e.component(value.Value, p, as)
		case "properties":
			value, err = e.properties(n, p)
		case "items", "additionalProperties", "contentSchema":
			if value.Kind == yaml.MappingNode {
				value, err = e.use(value, p)
			}
		case "oneOf", "anyOf":
			value, err = e.union(n, items(value), p)
		case "discriminator":
			value, err = e.discriminator(n, value, p)
		case "enum":
			value, err = e.enum(n, value)
		case valuesExtension, "x-order":
			continue
		default:
			if strings.HasPrefix(name, "x-go-") {
				continue
			}
			value = clone(value)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if value != nil && (value.Kind != yaml.SequenceNode || len(value.Content) > 0) {
			set(out, name, value)
		}
	}
	if p == request {
		integer(out)
	}
	return out, nil
}

// properties exports the fields of an object.
func (e *exporter) properties(n *yaml.Node, p purpose) (*yaml.Node, error) {
	out := object()
	for name, value := range members(get(n, "properties")) {
		mark, err := e.markOf(value)
		if err != nil {
			return nil, err
		}
		needed := holds(get(n, "required"), name)
		if p == reply && mark.Server == openapi.SupportRefused && mark.Instead == nil {
			if needed {
				set(out, name, note(object("type", text("null")), value, mark))
			}
			continue
		}
		exported, err := e.use(value, p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if p == request && !needed && !e.acceptsNull(value) || p == reply && mark.Server == openapi.SupportRefused && e.acceptsNull(value) {
			exported = nullable(exported)
		}
		set(out, name, exported)
	}
	return out, nil
}

// enum leaves out the values that are refused.
func (e *exporter) enum(n, values *yaml.Node) (*yaml.Node, error) {
	out := list()
	out.Style = values.Style
	for _, value := range values.Content {
		mark, err := readMark(get(get(n, valuesExtension), value.Value), e.document.Profile)
		if err != nil {
			return nil, err
		}
		if mark.Server != openapi.SupportRefused {
			out.Content = append(out.Content, clone(value))
		}
	}
	return out, nil
}

// acceptsNull reports whether a schema as it is written takes null for a value.
func (e *exporter) acceptsNull(n *yaml.Node) bool {
	n = e.resolve(n)
	if t := get(n, "type"); t != nil && t.Value != "null" && !holds(t, "null") {
		return false
	}
	if values := get(n, "enum"); values != nil && !holds(values, "null") {
		return false
	}
	for _, key := range []string{"oneOf", "anyOf"} {
		branches := get(n, key)
		if branches == nil {
			continue
		}
		for _, branch := range branches.Content {
			if e.acceptsNull(branch) {
				return true
			}
		}
		return false
	}
	return true
}

// nullable makes an exported schema take null as well.
func nullable(n *yaml.Node) *yaml.Node {
	if union := get(n, "anyOf"); union != nil {
		union.Content = append(union.Content, object("type", text("null")))
		return n
	}
	if get(n, "$ref") != nil || get(n, "oneOf") != nil || get(n, "allOf") != nil || get(n, "const") != nil {
		out := object()
		for _, name := range []string{"description", "deprecated", "default", markExtension, "x-needs"} {
			if value := get(n, name); value != nil {
				set(out, name, value)
				remove(n, name)
			}
		}
		set(out, "anyOf", list(n, object("type", text("null"))))
		return out
	}
	if t := get(n, "type"); t != nil && t.Kind == yaml.ScalarNode && t.Value != "null" {
		set(n, "type", texts([]string{t.Value, "null"}))
	} else if t != nil && t.Kind == yaml.SequenceNode && !holds(t, "null") {
		t.Content = append(t.Content, text("null"))
	}
	if values := get(n, "enum"); values != nil {
		values.Content = append(values.Content, null())
	}
	return n
}

// integer writes the bounds that the type of a whole number implies.
func integer(n *yaml.Node) {
	t := get(n, "type")
	if t == nil || t.Value != "integer" && !holds(t, "integer") || holds(t, "number") {
		return
	}
	low, high := int64(math.MinInt64), int64(math.MaxInt64)
	if f := get(n, "format"); f != nil && f.Value == "int32" {
		low, high = math.MinInt32, math.MaxInt32
	}
	if get(n, "minimum") == nil && get(n, "exclusiveMinimum") == nil {
		set(n, "minimum", number(strconv.FormatInt(low, 10)))
	}
	if get(n, "maximum") == nil && get(n, "exclusiveMaximum") == nil {
		set(n, "maximum", number(strconv.FormatInt(high, 10)))
	}
}

// implied reports whether a bound is one that integer wrote.
func implied(bound *yaml.Node) bool {
	return slices.Contains([]string{
		strconv.Itoa(math.MinInt64), strconv.Itoa(math.MaxInt64), strconv.Itoa(math.MinInt32), strconv.Itoa(math.MaxInt32),
	}, bound.Value)
}

// fromJSON makes a node of JSON, which is YAML as well.
func fromJSON(value []byte) *yaml.Node {
	var n yaml.Node
	var decoded any
	if json.Unmarshal(value, &decoded) != nil || n.Encode(decoded) != nil {
		panic("openapi: a mark holds no JSON") // it was decoded from JSON before
	}
	return &n
}
