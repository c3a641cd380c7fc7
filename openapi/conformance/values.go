package conformance

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"math"
	"strings"

	"github.com/diglot/diglot/openapi"
)

// bad is a value that violates one rule of a schema.
type bad struct {
	value  any
	rule   openapi.Rule
	oddity string
}

// wrongType returns a value that has none of the types.
func wrongType(kinds openapi.Kinds) any {
	switch {
	case kinds&openapi.Boolean == 0:
		return true
	case kinds&openapi.String == 0:
		return "text"
	case kinds&openapi.Number == 0:
		return 1.5
	case kinds&openapi.Array == 0:
		return []any{}
	}
	return map[string]any{}
}

const tooFew = "too few items"

// invalid lists values of the right type that violate the schema's own rules, one per rule.
func invalid(s *openapi.Schema) []bad {
	var list []bad
	add := func(value any, rule openapi.Rule, oddity string) { list = append(list, bad{value, rule, oddity}) }
	if len(s.Enum) > 0 && s.Kinds&openapi.String != 0 {
		add("no_such_value", openapi.RuleEnum, "not in the list")
		return list
	}
	if s.Kinds == openapi.AnyKind || len(s.Union) > 0 {
		return nil
	}
	if s.Kinds&openapi.Integer != 0 {
		list = append(list, invalidNumbers(s)...)
	}
	if s.MinLength != nil {
		add(strings.Repeat("a", int(*s.MinLength)-1), openapi.RuleLength, "too short")
	}
	if s.MaxLength != nil && *s.MaxLength < 1<<16 {
		add(strings.Repeat("a", int(*s.MaxLength)+1), openapi.RuleLength, "too long")
	}
	if s.Pattern != nil && !s.Pattern.MatchString("\u00a7") {
		add("\u00a7", openapi.RulePattern, "outside the pattern")
	}
	if s.MinItems != nil {
		add(copies(s, *s.MinItems-1), openapi.RuleLength, tooFew)
	}
	if s.MaxItems != nil && *s.MaxItems < 1<<12 {
		add(copies(s, *s.MaxItems+1), openapi.RuleLength, "too many items")
	}
	return list
}

func invalidNumbers(s *openapi.Schema) []bad {
	list := []bad{{jsontext.Value("1e999"), openapi.RuleRange, "beyond the range of numbers"}}
	if s.Kinds&openapi.Number == 0 {
		list = append(list, bad{1.5, openapi.RuleType, "a fraction"})
	}
	if s.Minimum != nil {
		value := *s.Minimum - 1
		if s.ExclusiveMin {
			value = *s.Minimum
		}
		list = append(list, bad{value, openapi.RuleRange, "too small"})
	}
	if s.Maximum != nil {
		value := *s.Maximum + 1
		if value == *s.Maximum { // so large that adding 1 changes nothing
			value = math.Nextafter(value, math.Inf(1))
		}
		if s.ExclusiveMax {
			value = *s.Maximum
		}
		list = append(list, bad{value, openapi.RuleRange, "too large"})
	}
	return list
}

func copies(s *openapi.Schema, n uint64) []any {
	list := make([]any, n)
	for i := range list {
		list[i] = valid(s.Items.Schema)
	}
	return list
}

// valid makes the smallest value that fits the schema.
func valid(s *openapi.Schema) any {
	if len(s.Enum) > 0 {
		return s.Enum[0]
	}
	for i := range s.Union {
		if s.Union[i].Mark.Server != openapi.SupportRefused {
			return valid(s.Union[i].Schema)
		}
	}
	switch {
	case s.Kinds&openapi.Object != 0 && s.Kinds&openapi.String == 0:
		object := map[string]any{}
		for i := range s.Properties {
			if p := &s.Properties[i]; p.Required {
				object[p.Name] = valid(p.Schema)
			}
		}
		return object
	case s.Kinds&openapi.Array != 0 && s.Kinds&openapi.String == 0:
		if s.MinItems == nil {
			return []any{}
		}
		return copies(s, *s.MinItems)
	case s.Kinds&openapi.String != 0:
		return validString(s)
	case s.Kinds&openapi.Integer != 0:
		return validNumber(s)
	}
	return true
}

func validString(s *openapi.Schema) string {
	n := 1
	if s.MinLength != nil {
		n = int(*s.MinLength)
	}
	return strings.Repeat("a", n)
}

func validNumber(s *openapi.Schema) float64 {
	value := 0.0
	if s.Minimum != nil {
		value = math.Ceil(*s.Minimum)
		if s.ExclusiveMin && value == *s.Minimum {
			value++
		}
	}
	if s.MultipleOf != nil {
		value = math.Ceil(value / *s.MultipleOf) * *s.MultipleOf
	}
	return value
}

// fits reports whether a value beyond the limit is still valid.
func fits(s *openapi.Schema, value any) bool {
	text, err := json.Marshal(value)
	return err == nil && s.Fits(text)
}
