package grammar

import (
	"errors"
	"fmt"
	"math"
	"regexp/syntax"
	"slices"
	"strconv"
)

// typeSet is a set of JSON types. A number is an integer or a fraction.
type typeSet uint8

const (
	typeNull typeSet = 1 << iota
	typeBoolean
	typeInteger
	typeFraction
	typeString
	typeArray
	typeObject

	typeNumber = typeInteger | typeFraction
	anyType    = 1<<iota - 1
)

var typeNames = map[string]typeSet{
	"null": typeNull, "boolean": typeBoolean, "integer": typeInteger, "number": typeNumber,
	"string": typeString, "array": typeArray, "object": typeObject,
}

// shape is a conjunction of constraints on one value.
type shape struct {
	types   typeSet
	typed   bool
	implied typeSet // types that other keywords constrain

	enums   [][]*tree // a value must be in each
	objects []objectPart
	arrays  []arrayPart

	required                     []string
	minProperties, maxProperties *limit
	minItems, maxItems           *limit
	minLength, maxLength         *limit
	patterns                     []patternPart
	format                       string
	low, high                    *bound
}

// objectPart is one schema's constraints on properties. They belong together: additional
// applies to names that are not in properties.
type objectPart struct {
	named      bool // properties is present, if only empty
	properties []member
	additional *tree
	names      *tree
	schema     *tree
}

// arrayPart is one schema's constraints on items.
type arrayPart struct {
	prefix []*tree
	items  *tree // after the prefix; nil: unconstrained
}

type patternPart struct {
	re     *syntax.Regexp
	inner  Node // of the JSON string
	schema *tree
}

// limit is a bound and the schema that sets it.
type limit struct {
	n      int
	schema *tree
}

func larger(a, b *limit) *limit {
	if a == nil || b != nil && b.n > a.n {
		return b
	}
	return a
}

func smaller(a, b *limit) *limit {
	if a == nil || b != nil && b.n < a.n {
		return b
	}
	return a
}

func (l *limit) or(absent int) int {
	if l == nil {
		return absent
	}
	return l.n
}

// merge adds the constraints of c to s, without changing slices that s shares.
func (s *shape) merge(m *meter, c *shape) {
	s.types &= c.types
	s.typed = s.typed || c.typed
	s.implied |= c.implied
	s.enums = join(m, s.enums, c.enums)
	s.objects = join(m, s.objects, c.objects)
	s.arrays = join(m, s.arrays, c.arrays)
	s.patterns = join(m, s.patterns, c.patterns)
	s.required = union(m, s.required, c.required)
	s.minProperties, s.maxProperties = larger(s.minProperties, c.minProperties), smaller(s.maxProperties, c.maxProperties)
	s.minItems, s.maxItems = larger(s.minItems, c.minItems), smaller(s.maxItems, c.maxItems)
	s.minLength, s.maxLength = larger(s.minLength, c.minLength), smaller(s.maxLength, c.maxLength)
	if c.low != nil {
		s.low = tighterLow(s.low, c.low)
	}
	if c.high != nil {
		s.high = tighterHigh(s.high, c.high)
	}
	if s.format == "" {
		s.format = c.format
	}
}

// partBytes is the memory of a part of a shape.
const partBytes = 64

// join returns the elements of a and b in a new slice.
func join[T any](m *meter, a, b []T) []T {
	switch {
	case len(b) == 0:
		return a
	case len(a) == 0:
		return slices.Clip(b)
	}
	m.spend(1+(len(a)+len(b))/8, partBytes*(len(a)+len(b)))
	return append(append(make([]T, 0, len(a)+len(b)), a...), b...)
}

// union returns the names of a and then those of b, each once.
func union(m *meter, a, b []string) []string {
	if len(b) == 0 {
		return a
	}
	n := len(a) + len(b)
	m.spend(1+n, (16+setEntryBytes)*n)
	all := append(make([]string, 0, n), a...)
	known := make(map[string]bool, n)
	for _, name := range a {
		known[name] = true
	}
	for _, name := range b {
		if !known[name] {
			known[name] = true
			all = append(all, name)
		}
	}
	return all
}

// setEntryBytes is the memory of a map entry.
const setEntryBytes = 80

// constraints reads the keywords of one schema, except those that combine schemas.
func (r *reader) constraints(t *tree) (*shape, error) {
	if t.constraints != nil {
		return t.constraints, nil
	}
	r.meter.spend(1+len(t.members), shapeBytes)
	s := &shape{types: anyType}
	for _, m := range t.members {
		if err := r.keyword(s, t, m); err != nil {
			return nil, err
		}
	}
	s.collectObject(t)
	s.collectArray(t)
	t.constraints = s
	return s, nil
}

func (r *reader) keyword(s *shape, t *tree, m member) error {
	switch m.name {
	case "type", "nullable":
		return s.readType(t)
	case "enum", "const":
		return s.readEnum(t, m)
	case "required":
		return s.readRequired(r.meter, t, m.value)
	case "properties":
		s.implied |= typeObject
		if m.value.kind != kindObject {
			return t.wrong("properties must be an object.")
		}
	case "additionalProperties", "propertyNames":
		s.implied |= typeObject
	case "items", "additionalItems":
		s.implied |= typeArray
	case "prefixItems":
		s.implied |= typeArray
		return schemaList(t, m)
	case "minProperties", "maxProperties", "minItems", "maxItems", "minLength", "maxLength":
		return s.readLimit(r.meter, t, m)
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		return s.readBound(r.meter, t, m)
	case "pattern":
		return r.readPattern(s, t, m.value)
	case "format":
		s.implied |= typeString
		s.format = m.value.text
	default:
		if supportOf(m.name) == NotEnforceable && !trivial(m) {
			r.issue(t, m.name)
		}
	}
	return nil
}

// trivial reports whether a keyword that is not enforceable has no effect.
func trivial(m member) bool {
	switch m.name {
	case "uniqueItems":
		return !m.value.isTrue()
	case "multipleOf":
		return m.value.text == "1"
	case "patternProperties", "dependentRequired", "dependentSchemas", "dependencies":
		return len(m.value.members) == 0
	case "unevaluatedItems", "unevaluatedProperties":
		return m.value.kind == kindBool
	}
	return false
}

func (s *shape) readType(t *tree) error {
	named := t.get("type")
	if named == nil {
		return nil // nullable alone has no effect
	}
	list := []*tree{named}
	if named.kind == kindArray {
		list = named.items
	}
	s.types, s.typed = 0, true
	for _, name := range list {
		set, ok := typeNames[name.text]
		if !ok || name.kind != kindString {
			return t.wrong("type must be the name of a JSON type, or an array of such names.")
		}
		s.types |= set
	}
	if s.types == 0 {
		return t.wrong("type must not be empty.")
	}
	if t.get("nullable").isTrue() {
		s.types |= typeNull
	}
	return nil
}

func (s *shape) readEnum(t *tree, m member) error {
	list := []*tree{m.value}
	if m.name == "enum" {
		if list = m.value.items; m.value.kind != kindArray || len(list) == 0 {
			return t.wrong("enum must be an array of at least one value.")
		}
	}
	s.enums = append(s.enums, list)
	return nil
}

func (s *shape) readRequired(m *meter, t, names *tree) error {
	if names.kind == kindBool { // draft 3, within a property: no effect
		return nil
	}
	if names.kind != kindArray {
		return t.wrong("required must be an array of names.")
	}
	s.implied |= typeObject
	m.spend(len(names.items), 16*len(names.items))
	list := make([]string, 0, len(names.items))
	for _, name := range names.items {
		if name.kind != kindString {
			return t.wrong("required must be an array of names.")
		}
		list = append(list, name.text)
	}
	s.required = union(m, s.required, list)
	return nil
}

func (s *shape) readLimit(meter *meter, t *tree, m member) error {
	d, err := m.value.decimal(meter)
	if m.value.kind != kindNumber || err != nil || d.negative || d.fraction != "" {
		return t.wrong(m.name + " must be an integer that is not negative.")
	}
	n, err := strconv.Atoi("0" + d.whole)
	if err != nil || n > math.MaxInt32 {
		n = math.MaxInt32
	}
	l := &limit{n, t}
	switch m.name {
	case "minProperties":
		s.minProperties, s.implied = l, s.implied|typeObject
	case "maxProperties":
		s.maxProperties, s.implied = l, s.implied|typeObject
	case "minItems":
		s.minItems, s.implied = l, s.implied|typeArray
	case "maxItems":
		s.maxItems, s.implied = l, s.implied|typeArray
	case "minLength":
		s.minLength, s.implied = l, s.implied|typeString
	case "maxLength":
		s.maxLength, s.implied = l, s.implied|typeString
	}
	return nil
}

func (s *shape) readBound(meter *meter, t *tree, m member) error {
	s.implied |= typeNumber
	low := m.name == "minimum" || m.name == "exclusiveMinimum"
	exclusive := m.name == "exclusiveMinimum" || m.name == "exclusiveMaximum"
	if exclusive && m.value.kind == kindBool {
		return nil // draft 4: read with the bound itself
	}
	if m.value.kind != kindNumber {
		return t.wrong(m.name + " must be a number.")
	}
	value, err := m.value.decimal(meter)
	if err != nil {
		return t.wrong(m.name + " has more digits than a number can have.")
	}
	draft4 := m.name == "minimum" && t.get("exclusiveMinimum").isTrue() || m.name == "maximum" && t.get("exclusiveMaximum").isTrue()
	b := &bound{value: value, exclusive: exclusive || draft4, schema: t}
	if low {
		s.low = tighterLow(s.low, b)
	} else {
		s.high = tighterHigh(s.high, b)
	}
	return nil
}

func (r *reader) readPattern(s *shape, t, re *tree) error {
	s.implied |= typeString
	if re.kind != kindString {
		return t.wrong("pattern must be a string.")
	}
	p := patternPart{schema: t}
	var err error
	if p.re, err = parsePattern(r.meter, re.text); err == nil {
		p.inner, err = r.stringPattern().search(p.re)
	}
	switch {
	case errors.Is(err, ErrPattern):
		r.issue(t, "pattern")
		return nil
	case err != nil:
		return t.wrong(fmt.Sprintf("pattern %q is not a regular expression.", shortenName(re.text)))
	}
	s.patterns = append(s.patterns, p)
	return nil
}

// collectObject reads the keywords for properties.
func (s *shape) collectObject(t *tree) {
	part := objectPart{additional: t.get("additionalProperties"), names: t.get("propertyNames"), schema: t}
	if named := t.get("properties"); named != nil {
		part.named, part.properties = true, named.members
	}
	if part.named || part.additional != nil || part.names != nil {
		s.objects = append(s.objects, part)
	}
}

// collectArray reads the keywords for items. Before draft 2020-12, items was the prefix
// if it was a list, and additionalItems the rest.
func (s *shape) collectArray(t *tree) {
	part := arrayPart{items: t.get("items")}
	if prefix := t.get("prefixItems"); prefix != nil {
		part.prefix = prefix.items
	} else if part.items != nil && part.items.kind == kindArray {
		part.prefix, part.items = part.items.items, t.get("additionalItems")
	}
	if part.prefix != nil || part.items != nil {
		s.arrays = append(s.arrays, part)
	}
}
