package openapi

import (
	"encoding/json/jsontext"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Kinds is a set of JSON types.
type Kinds uint8

// The JSON types. An integer is also a number.
const (
	Null Kinds = 1 << iota
	Boolean
	Integer
	Number
	String
	Array
	Object

	AnyKind = Null | Boolean | Integer | Number | String | Array | Object
)

var kindNames = []struct {
	kind Kinds
	name string // as the documents write it
	noun string // for people
}{
	{Boolean, "boolean", "true or false"},
	{Integer, "integer", "an integer"},
	{Number, "number", "a number"},
	{String, "string", "a string"},
	{Array, "array", "an array"},
	{Object, "object", "an object"},
	{Null, "null", "null"},
}

// String lists the types as a document writes them: "string or null".
func (k Kinds) String() string {
	if k == AnyKind {
		return "any"
	}
	return k.join(func(i int) string { return kindNames[i].name })
}

// nouns formats the types to follow "must be". Null is left out: where it is accepted it
// only means absence.
func (k Kinds) nouns() string {
	if k != Null {
		k &^= Null
	}
	return k.join(func(i int) string { return kindNames[i].noun })
}

func (k Kinds) join(word func(int) string) string {
	var words []string
	for i, entry := range kindNames {
		implied := entry.kind == Integer && k&Number != 0
		if k&entry.kind != 0 && !implied {
			words = append(words, word(i))
		}
	}
	return strings.Join(words, " or ")
}

// kindsOf returns the types that a token may have; a number may turn out not to be an
// integer.
func kindsOf(kind jsontext.Kind) Kinds {
	switch kind {
	case 'n':
		return Null
	case 't', 'f':
		return Boolean
	case '0':
		return Integer | Number
	case '"':
		return String
	case '[':
		return Array
	}
	return Object
}

// Schema is a compiled schema. Schemas are shared, may be recursive, and are read-only.
type Schema struct {
	Name        string // of the component; empty for an inline schema
	Description string
	Kinds       Kinds // accepted types, unions included
	Format      string

	Enum       []jsontext.Value // in declared order; empty: anything
	ValueMarks []ValueMark      // marks of enum values, in force or not

	Minimum, Maximum             *float64
	ExclusiveMin                 bool // Minimum itself is not allowed
	ExclusiveMax                 bool
	MultipleOf                   *float64
	MinLength, MaxLength         *uint64 // in characters
	Pattern                      *regexp.Regexp
	MinItems, MaxItems           *uint64
	UniqueItems                  bool
	MinProperties, MaxProperties *uint64

	Properties []Property // in declared order
	Extra      Extra      // what happens to unknown fields
	Additional *Use       // schema of unknown fields, for ExtraChecked
	Names      *Schema    // of the names of all fields, or nil
	Items      *Use
	Content    *Use // of the JSON inside a string; replies and events only

	Union         []Use  // the value fits one of these
	Exclusive     bool   // oneOf: exactly one; a discriminator ensures that
	Discriminator string // field that names the branch, or empty
	Default       *Use   // branch for unknown values of the discriminator, or nil

	properties map[string]*Property
	required   []*Property
	branches   map[string]*Use // by value of the discriminator
	enum       map[string]bool // strings of Enum
	any        bool            // every JSON value fits

	withheld map[string]jsontext.Value // enum values that replies must not hold, with their replacement or nil
	narrows  bool                      // withholds something, at any depth
}

// ValueMark is the effective mark of an enum value.
type ValueMark struct {
	Value string
	Mark  Mark
}

func (s *Schema) unconstrained() bool {
	return s.Kinds == AnyKind && len(s.Union) == 0 && s.Extra == ExtraFree && len(s.Properties) == 0 && s.Items == nil && s.Names == nil &&
		s.Minimum == nil && s.Maximum == nil && s.MultipleOf == nil && s.MinLength == nil && s.MaxLength == nil &&
		s.Pattern == nil && s.MinItems == nil && s.MaxItems == nil && !s.UniqueItems && s.MinProperties == nil && s.MaxProperties == nil
}

// Extra says what happens to a field that an object schema does not name.
type Extra int

// The ways to treat unknown fields.
const (
	ExtraFree    Extra = iota // free-form JSON: kept
	ExtraChecked              // kept, and checked against Schema.Additional
	ExtraIgnored              // removed, and named in Checked.Ignored
	ExtraRefused              // a violation
)

// Use is a schema at one place of a document, with what that place adds.
type Use struct {
	Schema      *Schema
	Mark        Mark // effective, after narrowing
	Description string
	Line        int // in the document
	EventName   string
	Only        *Schema        // for partial: another schema that the value must fit
	Default     jsontext.Value // JSON; nil: none
	Needs       string         // boolean field of the same request object that must be true for this one to have an effect; or empty

	effect     Support // how a check applies the mark
	nullAbsent bool    // null means the same as absence
	withheld   bool    // the profile removes it from replies
}

// Property is a named field of an object.
type Property struct {
	Name     string
	Required bool
	Use
}

// Property returns the property called name.
func (s *Schema) Property(name string) (*Property, bool) {
	p, ok := s.properties[name]
	return p, ok
}

// Branch returns the union member for a value of the discriminator.
func (s *Schema) Branch(value string) (*Use, bool) {
	branch, ok := s.branches[value]
	return branch, ok
}

// Values lists the values of the discriminator, in declared order of their union members.
func (s *Schema) Values() []string {
	values := slices.Sorted(maps.Keys(s.branches))
	slices.SortStableFunc(values, func(a, b string) int { return s.branches[a].Line - s.branches[b].Line })
	return values
}

// served lists the values whose union member is neither refused nor ignored.
func (s *Schema) served() []string {
	return slices.DeleteFunc(s.Values(), func(value string) bool {
		effect := s.branches[value].effect
		return effect == SupportRefused || effect == SupportIgnored
	})
}

// Fits reports whether a JSON text fits the schema.
func (s *Schema) Fits(text []byte) bool {
	t, v := parse(text, unbounded)
	if v == nil {
		_, v = t.check(&Use{Schema: s})
	}
	return v == nil
}
