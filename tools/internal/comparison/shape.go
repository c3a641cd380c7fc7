package comparison

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/diglot/diglot/openapi"
)

const markName = "x-support"

// shape is what a schema accepts, with its references, unions and allOf resolved, in
// enough detail to compare two documents.
type shape struct {
	any     bool              // everything
	kinds   map[string]values // by type
	objects []form
	items   []object // schemas of an array's items
}

// values are the allowed values of a type, as JSON; nil: all.
type values map[string]bool

// form is one kind of object that a schema accepts.
type form struct {
	id         string // of the schemas that it combines
	properties map[string][]object
	required   map[string]bool
	additional []object
	free       bool // any fields
	tag        string
	mark       any
}

// maxNesting limits the search in recursive unions.
const maxNesting = 20

// union returns the shape of alternatives.
func (d *Document) union(schemas []object) shape { return d.unionAt(schemas, 0) }

func (d *Document) unionAt(schemas []object, depth int) shape {
	all := shape{kinds: map[string]values{}}
	for _, s := range schemas {
		all = all.or(d.shape(s, depth))
	}
	return all
}

func (d *Document) shape(schema object, depth int) shape {
	mark, nullable := schema[markName], schema["nullable"] == true
	schema = d.resolve(schema)
	if mark == nil {
		mark = schema[markName]
	}
	if schema == nil || depth > maxNesting {
		return shape{any: true}
	}
	if m := readMark(mark); d.listing && m.Document == openapi.ListingUnlisted && m.Server == openapi.SupportImplemented {
		return shape{kinds: map[string]values{}}
	}
	s := own(schema)
	for _, keyword := range []string{"anyOf", "oneOf"} {
		if members := objects(schema[keyword]); members != nil {
			s = s.and(d.unionAt(members, depth+1))
		}
	}
	for _, part := range objects(schema["allOf"]) {
		s = s.and(d.shape(part, depth+1))
	}
	if limits, ok := mark.(object); ok && limits["only"] != nil && !d.listing {
		s = s.and(own(child(limits, "only")))
	}
	if (nullable || schema["nullable"] == true) && !s.any {
		s.kinds = maps.Clone(s.kinds)
		s.kinds["null"] = nil
	}
	if mark != nil {
		s.objects = slices.Clone(s.objects)
		for i := range s.objects {
			if s.objects[i].mark == nil { // an inner mark is more specific
				s.objects[i].mark = mark
			}
		}
	}
	if discriminator, ok := child(schema, "discriminator")["propertyName"].(string); ok {
		for i := range s.objects {
			s.objects[i].tag = discriminator
		}
	}
	return s
}

func objects(list any) []object {
	var all []object
	items, _ := list.([]any)
	for _, item := range items {
		if o, ok := item.(object); ok {
			all = append(all, o)
		}
	}
	return all
}

// own returns the shape of a schema's own keywords.
func own(schema object) shape {
	s := shape{kinds: map[string]values{}}
	switch t := schema["type"].(type) {
	case string:
		s.kinds[t] = nil
	case []any:
		for _, name := range t {
			s.kinds[fmt.Sprint(name)] = nil
		}
	}
	allowed, _ := schema["enum"].([]any)
	if value, ok := schema["const"]; ok {
		allowed = []any{value}
	}
	switch {
	case allowed != nil:
		s.narrow(allowed)
	case len(s.kinds) > 0:
	case schema["properties"] != nil || schema["additionalProperties"] != nil:
		s.kinds["object"] = nil
	case schema["items"] != nil:
		s.kinds["array"] = nil
	default:
		return shape{any: true}
	}
	if _, ok := s.kinds["object"]; ok {
		s.objects = []form{ownForm(schema)}
	}
	if items := child(schema, "items"); items != nil {
		s.items = []object{items}
	}
	return s
}

// narrow restricts types to the given values.
func (s *shape) narrow(allowed []any) {
	typed := s.kinds
	s.kinds = map[string]values{}
	for _, value := range allowed {
		kind := kindOf(value)
		if _, ok := typed[kind]; !ok && len(typed) > 0 {
			if kind != "integer" {
				continue
			}
			kind = "number"
		}
		if s.kinds[kind] == nil {
			s.kinds[kind] = values{}
		}
		text, _ := json.Marshal(value) // always encodes: it was decoded from JSON or YAML
		s.kinds[kind][string(text)] = true
	}
}

func kindOf(value any) string {
	switch value := value.(type) {
	case nil:
		return "null"
	case string:
		return "string"
	case bool:
		return "boolean"
	case int:
		return "integer"
	case float64:
		if value == float64(int64(value)) {
			return "integer"
		}
		return "number"
	case []any:
		return "array"
	}
	return "object"
}

func ownForm(schema object) form {
	f := form{
		id:         fmt.Sprint(reflect.ValueOf(schema).Pointer()),
		properties: map[string][]object{}, required: map[string]bool{},
	}
	for name, p := range child(schema, "properties") {
		p, ok := p.(object)
		if !ok {
			p = object{} // true: anything
		}
		f.properties[name] = []object{p}
	}
	names, _ := schema["required"].([]any)
	for _, name := range names {
		f.required[fmt.Sprint(name)] = true
	}
	if additional := child(schema, "additionalProperties"); additional != nil {
		f.additional = []object{additional}
	}
	f.free = len(f.properties) == 0 && f.additional == nil && schema["additionalProperties"] != false
	return f
}

// or returns what either shape accepts.
func (s shape) or(t shape) shape {
	if s.any || t.any {
		return shape{any: true}
	}
	kinds := maps.Clone(s.kinds)
	for kind, more := range t.kinds {
		had, ok := kinds[kind]
		switch {
		case !ok:
			kinds[kind] = more
		case had == nil || more == nil:
			kinds[kind] = nil
		default:
			both := maps.Clone(had)
			maps.Copy(both, more)
			kinds[kind] = both
		}
	}
	return shape{kinds: kinds, objects: slices.Concat(s.objects, t.objects), items: slices.Concat(s.items, t.items)}
}

// and returns what both shapes accept.
func (s shape) and(t shape) shape {
	if s.any {
		return t
	}
	if t.any {
		return s
	}
	kinds := map[string]values{}
	for kind, allowed := range s.kinds {
		other, ok := t.kinds[kind]
		if kind == "number" && !ok {
			if other, ok = t.kinds["integer"]; ok {
				kind = "integer"
			}
		}
		if !ok {
			continue
		}
		switch {
		case allowed == nil:
			kinds[kind] = other
		case other == nil:
			kinds[kind] = allowed
		default:
			kinds[kind] = values{}
			for v := range allowed {
				if other[v] {
					kinds[kind][v] = true
				}
			}
		}
	}
	return shape{kinds: kinds, objects: product(s.objects, t.objects), items: slices.Concat(s.items, t.items)}
}

func product(a, b []form) []form {
	if len(a) == 0 {
		return b
	}
	if len(b) == 0 {
		return a
	}
	var all []form
	for _, x := range a {
		for _, y := range b {
			f := form{
				id: x.id + "&" + y.id, properties: maps.Clone(x.properties), required: maps.Clone(x.required),
				additional: slices.Concat(x.additional, y.additional), free: x.free && y.free, mark: x.mark,
			}
			maps.Copy(f.properties, y.properties)
			maps.Copy(f.required, y.required)
			all = append(all, f)
		}
	}
	return all
}

// merge combines forms: all their properties, and the required fields that all share.
func merge(forms []form) form {
	if len(forms) == 1 {
		return forms[0]
	}
	all := form{properties: map[string][]object{}, required: maps.Clone(forms[0].required)}
	var ids []string
	for _, f := range forms {
		ids = append(ids, f.id)
		for name, schemas := range f.properties {
			all.properties[name] = slices.Concat(all.properties[name], schemas)
		}
		maps.DeleteFunc(all.required, func(name string, _ bool) bool { return !f.required[name] })
		all.additional = slices.Concat(all.additional, f.additional)
		all.free = all.free || f.free
		if all.mark == nil {
			all.mark = f.mark
		}
	}
	slices.Sort(ids)
	all.id = strings.Join(slices.Compact(ids), "|")
	return all
}

// text describes the shape in a few words.
func (s shape) text() string {
	if s.any {
		return "any"
	}
	var words []string
	for _, kind := range slices.Sorted(maps.Keys(s.kinds)) {
		switch allowed := s.kinds[kind]; {
		case allowed == nil || kind == "null":
			words = append(words, kind)
		default:
			words = append(words, allowed.text())
		}
	}
	return strings.Join(words, " or ")
}

const mostValues = 8

func (v values) text() string {
	sorted := slices.Sorted(maps.Keys(v))
	if n := len(sorted) - mostValues; n > 1 {
		sorted = append(sorted[:mostValues:mostValues], fmt.Sprintf("%d more", n))
	}
	return strings.Join(sorted, " or ")
}
