package openapi

import (
	"fmt"
	"strings"
)

// needsExtension names a field of the same request object: a boolean one, or any with the
// value that it must have (name=value). Without it the field has no effect and is reported
// as ignored.
const needsExtension = "x-needs"

// checkNeeds returns an error for a field that needs one that there is not.
func (s *Schema) checkNeeds() error {
	for _, p := range s.Properties {
		if p.Needs == "" {
			continue
		}
		name, value, _ := strings.Cut(p.Needs, "=")
		if needed := s.properties[name]; needed == nil || value == "" && needed.Schema.Kinds&Boolean == 0 {
			return fmt.Errorf("line %d: %s of %s names no boolean field of the same object: %s", p.Line, needsExtension, p.Name, p.Needs)
		}
	}
	return nil
}

// needs ignores a field unless another one of its object is true, or has a value.
func (c *checker) needs(object int32, other string, field int32) {
	name, value, _ := strings.Cut(other, "=")
	m := c.member(object, name)
	if value == "" {
		if m < 0 || c.nodes[m].kind != 't' {
			c.ignore(field, Mark{Note: "It has an effect only where " + name + " is true."}, "")
		}
		return
	}
	if m < 0 || c.nodes[m].kind != '"' || string(c.str(m)) != value {
		c.ignore(field, Mark{Note: "It has an effect only where " + name + " is " + value + "."}, "")
	}
}
