package reference

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/diglot/diglot/openapi"
)

// rangeOf describes which values of their type a schema takes.
func rangeOf(s *openapi.Schema) string {
	if s == nil {
		return ""
	}
	var words []string
	add := func(text string) {
		if text != "" {
			words = append(words, text)
		}
	}
	add(numbers(s))
	add(count(s.MinLength, s.MaxLength, "character"))
	add(count(s.MinItems, s.MaxItems, "item"))
	add(count(s.MinProperties, s.MaxProperties, "field"))
	if s.UniqueItems {
		add("no item twice")
	}
	if s.Pattern != nil {
		add("pattern `" + s.Pattern.String() + "`")
	}
	if s.Format != "" && s.Kinds&(openapi.Integer|openapi.Number) == 0 { // an integer's is its range
		add("format " + s.Format)
	}
	if s.Items != nil && len(s.Items.Schema.Union) == 0 {
		if text := rangeOf(s.Items.Schema); text != "" && s.Items.Schema.Kinds&openapi.Object == 0 {
			add("each item " + text)
		}
	}
	all := []string{strings.Join(words, ", ")}
	for i := range s.Union {
		text := rangeOf(s.Union[i].Schema)
		if inner := s.Union[i].Schema; len(inner.Union) == 0 && text != "" {
			text = inner.TypeText() + " of " + text
			if inner.Items != nil {
				text = "a list of " + rangeOf(inner)
			}
		}
		if s.Union[i].Schema.Kinds&openapi.Object == 0 && text != "" && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return strings.TrimPrefix(strings.Join(all, "; "), "; ")
}

func numbers(s *openapi.Schema) string {
	var words []string
	switch low, high := s.Minimum, s.Maximum; {
	case low != nil && high != nil && *low == *high:
		words = append(words, "always "+number(*low))
	case low != nil && high != nil && !s.ExclusiveMin && !s.ExclusiveMax:
		words = append(words, number(*low)+" to "+number(*high))
	default:
		if low != nil {
			words = append(words, bound("at least", "above", s.ExclusiveMin)+" "+number(*low))
		}
		if high != nil {
			words = append(words, bound("at most", "below", s.ExclusiveMax)+" "+number(*high))
		}
	}
	if s.MultipleOf != nil {
		words = append(words, "a multiple of "+number(*s.MultipleOf))
	}
	return strings.Join(words, ", ")
}

func bound(inclusive, exclusive string, excluded bool) string {
	if excluded {
		return exclusive
	}
	return inclusive
}

func number(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

func count(low, high *uint64, what string) string {
	switch {
	case low != nil && high != nil && *low == *high:
		return plural(*low, what)
	case low != nil && high != nil:
		return fmt.Sprintf("%d to %s", *low, plural(*high, what))
	case low != nil && *low > 0:
		return "at least " + plural(*low, what)
	case high != nil:
		return "at most " + plural(*high, what)
	}
	return ""
}

func plural(n uint64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
