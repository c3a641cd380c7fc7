package grammar

import "slices"

// property is a named member of an object.
type property struct {
	name     string
	required bool
	node     Node // name and value, with trailing white space
}

func (r *reader) object(s *shape) (Node, error) {
	least, most := s.minProperties.or(0), s.maxProperties.or(-1)
	if most >= 0 && least > most {
		return nil, s.maxProperties.schema.wrong("minProperties is above maxProperties.")
	}
	properties := r.properties(s)
	if len(properties) > maxNamed {
		return nil, r.tooLarge()
	}
	for _, p := range properties {
		if len(p.name) > maxName {
			return nil, r.tooLarge()
		}
	}
	more := r.additional(s, properties)
	if len(properties) == 0 {
		if more == nil {
			more = Choice()
		}
		return braces('{', '}', list(more, least, most)), nil
	}
	needed := 0
	for _, p := range properties {
		if p.required {
			needed++
		}
	}
	if s.minProperties != nil && least > needed {
		r.issue(s.minProperties.schema, "minProperties")
	}
	if s.maxProperties != nil && (more != nil || most < len(properties)) {
		r.issue(s.maxProperties.schema, "maxProperties")
	}
	return braces('{', '}', members(properties, more)), nil
}

// properties lists the named properties in the order of the schemas, then those that are
// only required.
func (r *reader) properties(s *shape) []property {
	names := s.names(r.meter)
	r.meter.spend(len(s.required), setEntryBytes*len(s.required))
	required := make(map[string]bool, len(s.required))
	for _, name := range s.required {
		required[name] = true
	}
	values := r.valuesByName(s, names)
	r.meter.spend(4*len(names), propertyBytes*len(names))
	list := make([]property, len(names))
	for i, name := range names {
		r.meter.spend(0, quoteBytes*len(name))
		list[i] = property{
			name:     name,
			required: required[name],
			node:     memberNode(Literal(quote(name)), r.value(values[i])),
		}
	}
	return list
}

// propertyBytes is the memory of a property with its nodes.
const propertyBytes = 700

// names lists the named properties.
func (s *shape) names(m *meter) []string {
	if len(s.objects) == 1 && len(s.required) == 0 { // no duplicates
		m.spend(len(s.objects[0].properties), 16*len(s.objects[0].properties))
		names := make([]string, 0, len(s.objects[0].properties))
		for _, p := range s.objects[0].properties {
			names = append(names, p.name)
		}
		return names
	}
	n := len(s.required)
	for _, part := range s.objects {
		n += len(part.properties)
	}
	m.spend(n, (16+setEntryBytes)*n)
	names, known := make([]string, 0, n), make(map[string]bool, n)
	add := func(name string) {
		if !known[name] {
			known[name] = true
			names = append(names, name)
		}
	}
	for _, part := range s.objects {
		for _, p := range part.properties {
			add(p.name)
		}
	}
	for _, name := range s.required {
		add(name)
	}
	return names
}

// valuesByName lists the schemas of each named property, in the order of the names. If a
// schema does not name it, its additionalProperties applies.
func (r *reader) valuesByName(s *shape, names []string) [][]*tree {
	r.meter.spend(len(names), 24*len(names))
	values := make([][]*tree, len(names))
	for _, part := range s.objects {
		r.meter.spend(len(names)+len(part.properties), setEntryBytes*len(part.properties)+16*len(names))
		named := make(map[string]*tree, len(part.properties))
		for _, p := range part.properties {
			named[p.name] = p.value
		}
		for i, name := range names {
			if t := named[name]; t != nil {
				values[i] = append(values[i], t)
			} else if part.additional != nil {
				values[i] = append(values[i], part.additional)
			}
		}
	}
	return values
}

// additional is a property that is not named, or nil if none is allowed.
func (r *reader) additional(s *shape, properties []property) Node {
	var all, names []*tree
	r.meter.spend(len(s.objects), 40*len(s.objects))
	said := false                 // additionalProperties or propertyNames is present
	closed := len(properties) > 0 // by default
	for _, part := range s.objects {
		closed = closed || part.named
		if part.additional != nil {
			said = true
			all = append(all, part.additional)
		}
		if part.names != nil {
			names = append(names, part.names)
		}
		if len(properties) > 0 && part.names != nil && !onlyString(part.names) {
			r.issue(part.schema, "propertyNames")
		}
	}
	switch {
	case closed && !said:
		return nil
	case len(properties) > 0:
		return memberNode(r.otherNames(properties), r.value(all))
	case len(names) > 0:
		return memberNode(r.value(append(names, r.anyName())), r.value(all))
	}
	return memberNode(jsonTypes.str, r.value(all))
}

// newStringSchema is {"type": "string"}, with a unique number.
func newStringSchema() *tree {
	return &tree{kind: kindObject, number: -1, members: []member{{"type", &tree{kind: kindString, text: "string"}}}}
}

// anyName is the schema of an unconstrained name.
func (r *reader) anyName() *tree {
	if r.stringSchema == nil {
		r.stringSchema = newStringSchema()
	}
	return r.stringSchema
}

// onlyString reports whether all property names satisfy a schema.
func onlyString(t *tree) bool {
	return t.isTrue() || len(t.members) == 0 && t.kind == kindObject || len(t.members) == 1 && t.members[0].name == "type" && t.members[0].value.text == "string"
}

// members is the named properties in order, without any of the optional ones, then any
// number of additional ones; nil: none. The node for the properties from each index on is
// shared, so the result is linear in size.
func members(properties []property, more Node) Node {
	var first, next Node = nil, Seq() // the properties from here on: at least one, or after one
	if more != nil {
		first = list(more, 1, -1)
		next = optional(Seq(comma(), first))
	}
	needed := false // a property from here on is required
	for i := len(properties) - 1; i >= 0; i-- {
		p := properties[i]
		here := Seq(p.node, next)
		if p.required || first == nil {
			first = here
		} else {
			first = Choice(here, first)
		}
		needed = needed || p.required
		next = Seq(comma(), first)
		if !needed {
			next = optional(next)
		}
	}
	if needed {
		return first
	}
	return optional(first)
}

// otherNames is a name that is none of the properties.
func (r *reader) otherNames(properties []property) Node {
	r.meter.spend(len(properties), 16*len(properties)+200)
	names := make([]string, len(properties))
	for i, p := range properties {
		names[i] = p.name
	}
	slices.Sort(names)
	return Seq(Literal(`"`), &except{names})
}

var (
	// nameEscapes are the characters that a JSON string must escape.
	nameEscapes = plainChars(subtract(anyChar.ranges, rawRanges))
	endOfName   = Seq(Repeat(plainChars(anyChar.ranges), 0, -1), Literal(`"`))
)
