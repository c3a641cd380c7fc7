package openapi

import (
	"bytes"
	"encoding/json/jsontext"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// number checks type and range. For JSON Schema 1.0 and 1e2 are integers; they are
// rewritten, since Go decodes only plain digits into an integer.
func (c *checker) number(s *Schema, i int32) *Violation {
	raw := c.raw(i)
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil {
		return c.violation(RuleRange, "is out of range")
	}
	if s.Kinds&Number == 0 {
		if v := c.integer(s, i, raw); v != nil {
			return v
		}
	}
	low, high := s.Minimum, s.Maximum
	switch {
	case low != nil && (f < *low || s.ExclusiveMin && f == *low), high != nil && (f > *high || s.ExclusiveMax && f == *high):
		return c.violation(RuleRange, "must be "+rangeText(s))
	case s.MultipleOf != nil && math.Mod(f, *s.MultipleOf) != 0:
		return c.violation(RuleRange, "must be a multiple of "+formatFloat(*s.MultipleOf))
	}
	return nil
}

func (c *checker) integer(s *Schema, i int32, raw []byte) *Violation {
	digits, whole := plainInteger(string(raw))
	if !whole {
		return c.violation(RuleType, "must be "+s.Kinds.nouns())
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return c.violation(RuleRange, "is out of range")
	}
	if outside(n, s.Minimum, s.Maximum) {
		return c.violation(RuleRange, "must be "+rangeText(s))
	}
	if bytes.ContainsAny(raw, ".eE") {
		c.writeInteger(i)
	}
	return nil
}

// outside reports whether a whole number is beyond bounds near which a float64 cannot tell
// neighbours apart.
func outside(n int64, low, high *float64) bool {
	const exact, most = 1 << 53, 1 << 62
	return low != nil && *low <= -exact && *low > -most && n < int64(*low) || high != nil && *high >= exact && *high < most && n > int64(*high)
}

// maxDigits is the number of digits of the largest 64-bit integer.
const maxDigits = 19

// plainInteger writes a whole JSON number without point and exponent. A number that is too
// large keeps enough digits to stay so.
func plainInteger(number string) (digits string, whole bool) {
	number, negative := strings.CutPrefix(number, "-")
	mantissa, exponent := number, "0"
	if at := strings.IndexAny(number, "eE"); at >= 0 {
		mantissa, exponent = number[:at], number[at+1:]
	}
	before, behind, _ := strings.Cut(mantissa, ".")
	digits = strings.TrimLeft(before+behind, "0")
	point := len(digits) - len(behind) // digits before it
	digits = strings.TrimRight(digits, "0")
	if digits == "" {
		return "0", true
	}
	shift, _ := strconv.Atoi(exponent) // saturates on overflow
	if point += max(math.MinInt32, min(shift, math.MaxInt32)); point < len(digits) {
		return "", false
	}
	digits += strings.Repeat("0", max(0, min(point, maxDigits+1)-len(digits)))
	if negative {
		digits = "-" + digits
	}
	return digits, true
}

func rangeText(s *Schema) string {
	var low, high string
	if s.Minimum != nil {
		low = formatFloat(*s.Minimum)
	}
	if s.Maximum != nil {
		high = formatFloat(*s.Maximum)
	}
	switch {
	case low != "" && high != "" && !s.ExclusiveMin && !s.ExclusiveMax:
		return "between " + low + " and " + high
	case high == "" && s.ExclusiveMin:
		return "greater than " + low
	case high == "":
		return "at least " + low
	case low == "" && s.ExclusiveMax:
		return "less than " + high
	case low == "":
		return "at most " + high
	}
	words := map[bool][2]string{false: {"at least ", "at most "}, true: {"greater than ", "less than "}}
	return words[s.ExclusiveMin][0] + low + " and " + words[s.ExclusiveMax][1] + high
}

func formatFloat(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func (c *checker) string(s *Schema, i int32) *Violation {
	if s.MinLength != nil || s.MaxLength != nil {
		if v := c.size(uint64(utf8.RuneCount(c.str(i))), s.MinLength, s.MaxLength, "character"); v != nil {
			return v
		}
	}
	if s.Pattern != nil && !s.Pattern.Match(c.str(i)) {
		return c.violation(RulePattern, "must match "+s.Pattern.String())
	}
	if s.Content == nil {
		return nil
	}
	inner, v := parse(c.str(i), unbounded)
	if v == nil {
		_, v = inner.check(s.Content)
	}
	if v != nil {
		v.Pointer = append(c.pointer(), v.Pointer...)
	}
	return v
}

func (c *checker) size(n uint64, low, high *uint64, noun string) *Violation {
	switch {
	case low != nil && n < *low && *low == 1:
		return c.violation(RuleLength, "must not be empty")
	case low != nil && n < *low:
		return c.violation(RuleLength, "must have at least "+count(*low, noun))
	case high != nil && n > *high:
		return c.violation(RuleLength, "must have at most "+count(*high, noun))
	}
	return nil
}

func count(n uint64, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

func (c *checker) inEnum(s *Schema, i int32) bool {
	if c.nodes[i].kind == '"' {
		return s.enum[string(c.str(i))]
	}
	text := canonical(c.raw(i))
	for _, value := range s.Enum {
		if bytes.Equal(text, canonical(value)) {
			return true
		}
	}
	return false
}

// maxSent is how many characters of a value an error repeats.
const maxSent = 60

// sent says what the client sent, after what was expected.
func (c *checker) sent(i int32) string {
	if c.nodes[i].kind == '"' {
		return "; " + quote(c.str(i)) + " was sent"
	}
	raw := c.raw(i)[:min((maxSent+1)*utf8.UTFMax, len(c.raw(i)))]
	return "; " + cut(string(bytes.Join(bytes.Fields(raw), []byte(" ")))) + " was sent"
}

// choices returns the possible values, if nothing else is accepted. Null, which means
// absence, does not count.
func (s *Schema) choices() []jsontext.Value {
	values := s.Enum
	for _, branch := range s.Union {
		if branch.Schema.Kinds == Null {
			continue
		}
		inside := branch.Schema.choices()
		if len(inside) == 0 {
			return nil
		}
		values = append(slices.Clip(values), inside...)
	}
	return values
}

// quote writes a client's text on one line, cut to maxSent.
func quote(text []byte) string {
	return strconv.Quote(cut(string(text[:min((maxSent+1)*utf8.UTFMax, len(text))])))
}

func cut(text string) string {
	n := 0
	for i := range text {
		if n++; n > maxSent {
			return text[:i] + "…"
		}
	}
	return text
}

// canonical returns the canonical form of RFC 8785, in which equal values are equal bytes.
func canonical(raw []byte) []byte {
	value := jsontext.Value(bytes.Clone(raw))
	if value.Canonicalize(jsontext.AllowInvalidUTF8(true)) != nil {
		return raw
	}
	return value
}

// oneOf formats values to follow "must be".
func oneOf[T ~[]byte | ~string](values []T) string {
	words := make([]string, len(values))
	for i, value := range values {
		words[i] = strings.Trim(string(value), `"`)
	}
	if len(words) == 1 {
		return words[0]
	}
	return "one of: " + strings.Join(words, ", ")
}
