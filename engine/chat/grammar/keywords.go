package grammar

import (
	"slices"
	"strings"
)

// Support says what becomes of a keyword.
type Support string

// The closed list of supports.
const (
	Enforced       Support = "enforced"        // the text follows it
	Annotation     Support = "annotation"      // it says nothing about the text
	NotEnforceable Support = "not enforceable" // it would; its presence is an [Issue]
)

// Keyword is one row of the table of JSON Schema keywords.
type Keyword struct {
	Name    string
	Support Support
	Note    string // how far it is enforced, or why it is not; a sentence
}

// Keywords lists what is known of JSON Schema, sorted by name. A keyword
// that is not in the list is an annotation.
func Keywords() []Keyword { return slices.Clone(keywords) }

// keywords is the one table: [Schema] enforces no keyword that is not
// Enforced here, and reports every one that is NotEnforceable.
var keywords = []Keyword{
	{"$anchor", Annotation, "A $ref to it is refused."},
	{"$comment", Annotation, ""},
	{"$defs", Annotation, "Holds schemas for $ref."},
	{"$dynamicAnchor", Annotation, ""},
	{"$dynamicRef", NotEnforceable, "What it refers to depends on the way that led to it."},
	{"$id", Annotation, "A $ref that is relative to it is refused."},
	{"$recursiveRef", NotEnforceable, "What it refers to depends on the way that led to it."},
	{"$ref", Enforced, "Pointers into the same schema, also recursive ones; keywords beside it count."},
	{"$schema", Annotation, ""},
	{"$vocabulary", Annotation, ""},
	{"additionalItems", Enforced, "Where items is a list, as before draft 2020-12."},
	{"additionalProperties", Enforced, "Such members come after the named ones, and absent beside properties means none. That no name comes twice is not enforced."},
	{"allOf", Enforced, "The schemas are merged."},
	{"anyOf", Enforced, "The schemas are alternatives."},
	{"const", Enforced, "With the spelling of numbers that the schema uses."},
	{"contains", NotEnforceable, "A text is checked as it grows, and whether an item is the last chance to be the right one is not known before the end."},
	{"contentEncoding", Annotation, ""},
	{"contentMediaType", Annotation, ""},
	{"contentSchema", Annotation, ""},
	{"default", Annotation, ""},
	{"definitions", Annotation, "Holds schemas for $ref."},
	{"dependencies", NotEnforceable, "What must appear would depend on what has appeared."},
	{"dependentRequired", NotEnforceable, "What must appear would depend on what has appeared."},
	{"dependentSchemas", NotEnforceable, "What must appear would depend on what has appeared."},
	{"deprecated", Annotation, ""},
	{"description", Annotation, ""},
	{"discriminator", Annotation, "OpenAPI; the alternatives of oneOf decide."},
	{"else", NotEnforceable, "A condition on a whole value is not known before its end."},
	{"enum", Enforced, "With the spelling of numbers that the schema uses."},
	{"example", Annotation, ""},
	{"examples", Annotation, ""},
	{"exclusiveMaximum", Enforced, "A number or, as in draft 4, a boolean."},
	{"exclusiveMinimum", Enforced, "A number or, as in draft 4, a boolean."},
	{"externalDocs", Annotation, ""},
	{"format", Enforced, "date, time, date-time, duration, uuid, email, hostname, ipv4 and ipv6, where no pattern or length stands beside them; an annotation otherwise, as JSON Schema allows."},
	{"if", NotEnforceable, "A condition on a whole value is not known before its end."},
	{"items", Enforced, ""},
	{"maxContains", NotEnforceable, "It belongs to contains."},
	{"maxItems", Enforced, ""},
	{"maxLength", Enforced, "In characters. Beside a pattern only where the pattern implies it or is one repeated character; an issue otherwise."},
	{"maxProperties", Enforced, "Where no properties are named, or where the named ones imply it; an issue otherwise."},
	{"maximum", Enforced, ""},
	{"minContains", NotEnforceable, "It belongs to contains."},
	{"minItems", Enforced, ""},
	{"minLength", Enforced, "In characters. Beside a pattern only where the pattern implies it or is one repeated character; an issue otherwise."},
	{"minProperties", Enforced, "Where no properties are named, or where the required ones imply it; an issue otherwise."},
	{"minimum", Enforced, ""},
	{"multipleOf", NotEnforceable, "Divisibility is not visible in the digits; 1 is, for integers."},
	{"not", NotEnforceable, "What a value is not is not known before its end."},
	{"nullable", Enforced, "OpenAPI 3.0; beside type."},
	{"oneOf", Enforced, "As anyOf: that only one alternative fits is not enforced."},
	{"pattern", Enforced, "Regular expressions without look-around, back references and word boundaries, and one pattern for a string; an issue otherwise."},
	{"patternProperties", NotEnforceable, "A schema that depends on a name would have to be chosen before the name is complete."},
	{"prefixItems", Enforced, "Absent items beside it means that no more items follow."},
	{"properties", Enforced, "In the order of the schema."},
	{"propertyNames", Enforced, "Where no properties are named; an issue otherwise."},
	{"readOnly", Annotation, ""},
	{"required", Enforced, ""},
	{"then", NotEnforceable, "A condition on a whole value is not known before its end."},
	{"title", Annotation, ""},
	{"type", Enforced, "Absent: the types that the other keywords are about, or any."},
	{"unevaluatedItems", NotEnforceable, "It depends on which alternatives fit; false is what generation does anyway."},
	{"unevaluatedProperties", NotEnforceable, "It depends on which alternatives fit; false is what generation does anyway."},
	{"uniqueItems", NotEnforceable, "A repeated item would have to be compared with all earlier ones."},
	{"writeOnly", Annotation, ""},
	{"xml", Annotation, ""},
}

// supportOf returns the row's support; unknown keywords are annotations.
func supportOf(name string) Support {
	i, ok := slices.BinarySearchFunc(keywords, name, func(k Keyword, name string) int {
		return strings.Compare(k.Name, name)
	})
	if !ok {
		return Annotation
	}
	return keywords[i].Support
}
