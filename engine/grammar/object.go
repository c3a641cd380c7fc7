package grammar

import (
	"slices"
	"unicode/utf8"
)

// property is a named member of an object.
type property struct {
	name     string
	required bool
	node     Node // name and value, with the white space behind them
}

func (r *reader) object(s *shape) (Node, error) {
	least, most := s.minProperties.or(0), s.maxProperties.or(-1)
	if most >= 0 && least > most {
		return nil, &SchemaError{s.maxProperties.schema.pointer, "minProperties is above maxProperties."}
	}
	properties := r.properties(s)
	if len(properties) > maxNamed {
		return nil, tooLargeAt(r.root)
	}
	for _, p := range properties {
		if len(p.name) > maxName {
			return nil, tooLargeAt(r.root)
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

// properties lists the named members in the order of the schemas: those of
// properties, then those that are only required.
func (r *reader) properties(s *shape) []property {
	var names []string
	known := map[string]bool{}
	add := func(name string) {
		if !known[name] {
			known[name] = true
			names = append(names, name)
		}
	}
	for _, part := range s.objects {
		for _, m := range part.properties {
			add(m.name)
		}
	}
	for _, name := range s.required {
		add(name)
	}
	required := map[string]bool{}
	for _, name := range s.required {
		required[name] = true
	}
	values := s.valuesByName(names)
	list := make([]property, len(names))
	for i, name := range names {
		list[i] = property{
			name:     name,
			required: required[name],
			node:     memberNode(Literal(quote(name)), r.value(values[name])),
		}
	}
	return list
}

// valuesByName lists what the value of each named member must satisfy. A
// schema that does not name it has its additionalProperties for it.
func (s *shape) valuesByName(names []string) map[string][]*tree {
	values := map[string][]*tree{}
	for _, part := range s.objects {
		named := map[string]*tree{}
		for _, m := range part.properties {
			named[m.name] = m.value
		}
		for _, name := range names {
			if t := named[name]; t != nil {
				values[name] = append(values[name], t)
			} else if part.additional != nil {
				values[name] = append(values[name], part.additional)
			}
		}
	}
	return values
}

// additional is a member that is not named, or nil where there is none.
func (r *reader) additional(s *shape, properties []property) Node {
	var all, names []*tree
	said := false                 // something about members without a name
	closed := len(properties) > 0 // by silence
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
		return memberNode(r.value(append(names, stringSchema)), r.value(all))
	}
	return memberNode(jsonTypes.str, r.value(all))
}

// stringSchema is {"type": "string"}.
var stringSchema = &tree{kind: kindObject, pointer: "\x00string", members: []member{
	{"type", &tree{kind: kindString, text: "string"}},
}}

// onlyString reports whether a schema says nothing that names do not fulfil.
func onlyString(t *tree) bool {
	return t.isTrue() || len(t.members) == 0 && t.kind == kindObject || len(t.members) == 1 && t.members[0].name == "type" && t.members[0].value.text == "string"
}

// members is the named members in order, each that is not required or not,
// and then any number of more; nil: none. It has one node for the members
// from each place on, used behind every member that may be the last before
// it, so the result is linear in size.
func members(properties []property, more Node) Node {
	var first, next Node = nil, Seq() // the members from here on: at least one, or what follows one
	if more != nil {
		first = list(more, 1, -1)
		next = optional(Seq(comma(), first))
	}
	needed := false // one from here on is required
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

// otherNames is the name of a member that is none of the properties.
func (r *reader) otherNames(properties []property) Node {
	names := make([]string, len(properties))
	for i, p := range properties {
		names[i] = p.name
		r.work += len(p.name)
	}
	slices.Sort(names)
	return Seq(Literal(`"`), otherThan(names))
}

// otherThan is the rest of a name, with the closing quote, that is none of
// the sorted rests. A name has one spelling here, so that an escape cannot
// stand for a letter.
func otherThan(rests []string) Node {
	var nodes []Node
	if len(rests) > 0 && rests[0] == "" {
		rests = rests[1:]
	} else {
		nodes = append(nodes, Literal(`"`))
	}
	raw, escapes := rawRanges, nameEscapes
	var firsts []runeRange
	for len(rests) > 0 {
		r, size := utf8.DecodeRuneInString(rests[0])
		start := rests[0][:size]
		var same []string
		for len(rests) > 0 && rests[0][:min(size, len(rests[0]))] == start {
			same = append(same, rests[0][size:])
			rests = rests[1:]
		}
		firsts = append(firsts, runeRange{r, r})
		nodes = append(nodes, Seq(plainChars([]runeRange{{r, r}}), otherThan(same)))
	}
	if slices.ContainsFunc(firsts, func(r runeRange) bool { return !contains(rawRanges, r.lo) }) {
		escapes = plainChars(subtract(anyChar.ranges, append(firsts, rawRanges...)))
	}
	raw = subtract(raw, firsts)
	nodes = append(nodes, Seq(Choice(&class{raw}, escapes), endOfName))
	return Choice(nodes...)
}

var (
	// nameEscapes are the characters that a JSON string must escape.
	nameEscapes = plainChars(subtract(anyChar.ranges, rawRanges))
	endOfName   = Seq(Repeat(plainChars(anyChar.ranges), 0, -1), Literal(`"`))
)
