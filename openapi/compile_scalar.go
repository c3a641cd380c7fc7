package openapi

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"

	"github.com/getkin/kin-openapi/openapi3"
)

func (c *compiler) scalars(s *Schema, in *openapi3.Schema) error {
	s.Kinds = AnyKind
	if in.Type != nil {
		s.Kinds = 0
		for _, name := range in.Type.Slice() {
			for _, entry := range kindNames {
				if entry.name == name {
					s.Kinds |= entry.kind
				}
			}
		}
		if s.Kinds&Number != 0 {
			s.Kinds |= Integer
		}
	}
	if err := c.enum(s, in); err != nil {
		return fmt.Errorf("line %d: enum: %w", line(in.Origin), err)
	}
	if in.Pattern != "" {
		re, err := regexp.Compile(in.Pattern)
		if err != nil {
			return fmt.Errorf("line %d: pattern: %w", line(in.Origin), err)
		}
		s.Pattern = re
	}
	s.Minimum, s.Maximum, s.MultipleOf = in.Min, in.Max, in.MultipleOf
	if bound := in.ExclusiveMin.Value; bound != nil {
		s.Minimum, s.ExclusiveMin = bound, true
	}
	if bound := in.ExclusiveMax.Value; bound != nil {
		s.Maximum, s.ExclusiveMax = bound, true
	}
	if s.Format == "int32" {
		s.fitInt32()
	}
	s.MinLength, s.MaxLength = positive(in.MinLength), in.MaxLength
	s.MinItems, s.MaxItems, s.UniqueItems = positive(in.MinItems), in.MaxItems, in.UniqueItems
	s.MinProperties, s.MaxProperties = positive(in.MinProps), in.MaxProps
	return nil
}

// enum keeps the values that are in force.
func (c *compiler) enum(s *Schema, in *openapi3.Schema) error {
	marks, _ := in.Extensions[valuesExtension].(map[string]any)
	for value := range marks {
		if !slices.Contains(in.Enum, any(value)) {
			return fmt.Errorf("%s: value %s is not in the enum", valuesExtension, value)
		}
	}
	for _, value := range in.Enum {
		name, isString := value.(string)
		if written, ok := marks[name]; ok && isString {
			served, err := c.markedValue(s, name, written)
			if err != nil {
				return err
			}
			if !served {
				continue
			}
		}
		text, err := json.Marshal(value)
		if err != nil {
			return err
		}
		s.Enum = append(s.Enum, text)
		if isString {
			if s.enum == nil {
				s.enum = map[string]bool{}
			}
			s.enum[name] = true
		}
	}
	if len(in.Enum) > 0 && len(s.Enum) == 0 {
		return errors.New("no value is left")
	}
	for value, instead := range s.withheld {
		if instead != nil && !slices.ContainsFunc(s.Enum, func(v jsontext.Value) bool { return string(v) == string(instead) }) {
			return fmt.Errorf("%s is replaced by %s, which is not in the enum", value, instead)
		}
	}
	return nil
}

// markedValue records the mark of an enum value and reports whether the value is in
// force.
func (c *compiler) markedValue(s *Schema, value string, written any) (bool, error) {
	mark, err := ParseMark(written)
	if err != nil {
		return false, fmt.Errorf("%s: %w", value, err)
	}
	if mark.Server != SupportImplemented && mark.Server != SupportRefused {
		return false, fmt.Errorf("%s: a value is implemented or refused", value)
	}
	narrowed := mark.Narrow(c.profile)
	s.ValueMarks = append(s.ValueMarks, ValueMark{value, narrowed})
	if narrowed.Server == mark.Server {
		return mark.Server != SupportRefused, nil
	}
	if s.withheld == nil {
		s.withheld = map[string]jsontext.Value{}
	}
	s.withheld[value] = mark.Instead
	return false, nil
}

// fitInt32 narrows the bounds to what the generated type can hold.
func (s *Schema) fitInt32() {
	if s.Minimum == nil || *s.Minimum < math.MinInt32 {
		s.Minimum, s.ExclusiveMin = new(float64(math.MinInt32)), false
	}
	if s.Maximum == nil || *s.Maximum > math.MaxInt32 {
		s.Maximum, s.ExclusiveMax = new(float64(math.MaxInt32)), false
	}
}

func positive(n uint64) *uint64 {
	if n == 0 {
		return nil
	}
	return &n
}
