package grammar

import (
	"slices"
	"strings"
)

// Support says whether a keyword is enforced.
type Support string

// Kinds of support.
const (
	Enforced       Support = "enforced"
	Annotation     Support = "annotation"      // it does not constrain values
	NotEnforceable Support = "not enforceable" // its presence is an [Issue]
)

// Keyword is one row of the table of JSON Schema keywords.
type Keyword struct {
	Name    string
	Support Support
	Note    string // a sentence: how far it is enforced, or why it is not
}

// keywords is what [Schema] enforces or reports as an [Issue], sorted by name. Other
// keywords are annotations.
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

// formats are the formats that a regular expression describes. Others are annotations:
// uri and its like allow nearly everything, and regex and json-pointer are languages of
// their own.
var formats = newFormats()

const (
	days = `(0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8])`
	leap = `([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)`
	// RFC 3339, without leap seconds, which no grammar can verify.
	dateRE = `([0-9]{4}-(` + days + `)|` + leap + `-02-29)`
	timeRE = `([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])`

	octet  = `(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])`
	ipv4RE = octet + `(\.` + octet + `){3}`
	h16    = `[0-9a-fA-F]{1,4}`
	ls32   = `(` + h16 + `:` + h16 + `|` + ipv4RE + `)`
	// RFC 3986, section 3.2.2.
	ipv6RE = `((` + h16 + `:){6}` + ls32 +
		`|::(` + h16 + `:){5}` + ls32 +
		`|(` + h16 + `)?::(` + h16 + `:){4}` + ls32 +
		`|((` + h16 + `:){0,1}` + h16 + `)?::(` + h16 + `:){3}` + ls32 +
		`|((` + h16 + `:){0,2}` + h16 + `)?::(` + h16 + `:){2}` + ls32 +
		`|((` + h16 + `:){0,3}` + h16 + `)?::` + h16 + `:` + ls32 +
		`|((` + h16 + `:){0,4}` + h16 + `)?::` + ls32 +
		`|((` + h16 + `:){0,5}` + h16 + `)?::` + h16 +
		`|((` + h16 + `:){0,6}` + h16 + `)?::)`

	label      = `[A-Za-z0-9]([A-Za-z0-9-]{0,30}[A-Za-z0-9])?`
	hostnameRE = label + `(\.` + label + `){0,6}`
	// Without quoted local parts and address literals.
	emailRE = `[A-Za-z0-9_+-]{1,20}(\.[A-Za-z0-9_+-]{1,20}){0,2}@` + label + `(\.` + label + `){1,4}`
	uuidRE  = `[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}`
	// RFC 3339, appendix A.
	durationRE = `P([0-9]{1,9}W|[0-9]{1,9}Y([0-9]{1,9}M([0-9]{1,9}D)?)?` + durationTime +
		`|[0-9]{1,9}M([0-9]{1,9}D)?` + durationTime + `|[0-9]{1,9}D` + durationTime + `|` + durationClock + `)`
	durationTime  = `(` + durationClock + `)?`
	durationClock = `T([0-9]{1,9}H([0-9]{1,9}M([0-9]{1,9}S)?)?|[0-9]{1,9}M([0-9]{1,9}S)?|[0-9]{1,9}S)`
)

func newFormats() map[string]Node {
	all := map[string]Node{}
	p := pattern{plainChars, nil, map[string]Node{}}
	for name, re := range map[string]string{
		"date": dateRE, "time": timeRE, "date-time": dateRE + "T" + timeRE, "duration": durationRE,
		"uuid": uuidRE, "ipv4": ipv4RE, "ipv6": ipv6RE, "hostname": hostnameRE, "email": emailRE,
	} {
		tree, err := parsePattern(nil, "^("+re+")$")
		if err != nil {
			panic("grammar: format " + name + ": " + err.Error()) // a mistake in this file
		}
		inner, err := p.search(tree)
		if err != nil {
			panic("grammar: format " + name + ": " + err.Error()) // the same
		}
		all[name] = builtin(&rule{body: quoted(inner)})
	}
	return all
}
