package openapi

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// purpose is what a schema is compiled for. Requests and replies share components, so marks
// are applied while compiling, not by editing the document.
type purpose int

const (
	// forRequest applies the marks, takes null for absence, and removes unknown fields.
	forRequest purpose = iota
	// forReply is closed: unknown fields fail, and so does whatever the marks say is never
	// sent.
	forReply
	// forLimit is for the schema in a mark, which sees the value as it is.
	forLimit
)

// compiler compiles the schemas of one document for one purpose.
type compiler struct {
	purpose purpose
	profile Profile
	schemas map[*openapi3.Schema]*Schema // compiled so far; also ends recursion

	defaults []Use // those with a default
}

func newCompiler(purpose purpose, profile Profile) *compiler {
	return &compiler{purpose: purpose, profile: profile, schemas: map[*openapi3.Schema]*Schema{}}
}

// use compiles a schema in its place.
func (c *compiler) use(ref *openapi3.SchemaRef) (Use, error) {
	schema, err := c.schema(ref)
	if err != nil {
		return Use{}, err
	}
	u := Use{Schema: schema, Description: ref.Value.Description, Line: line(ref.Origin), effect: SupportImplemented}
	if u.Line == 0 {
		u.Line = line(ref.Value.Origin)
	}
	extensions := ref.Value.Extensions
	if _, ok := ref.Extensions[markExtension]; ok {
		extensions = ref.Extensions
	}
	if u.Mark, err = readMark(extensions); err != nil {
		return Use{}, fmt.Errorf("line %d: %w", u.Line, err)
	}
	if otherwise := ref.Value.Default; otherwise != nil {
		if u.Default, err = json.Marshal(otherwise, json.Deterministic(true)); err != nil {
			return Use{}, fmt.Errorf("line %d: default: %w", u.Line, err)
		}
		c.defaults = append(c.defaults, u)
	}
	u.EventName, _ = ref.Value.Extensions[eventNameExtension].(string)
	switch c.purpose {
	case forRequest:
		u.Mark = u.Mark.Narrow(c.profile)
		u.effect = u.Mark.Server
		u.Needs, _ = ref.Value.Extensions[needsExtension].(string)
	case forReply:
		written := u.Mark.Server
		if u.Mark = u.Mark.Narrow(c.profile); u.Mark.Server == SupportRefused {
			u.effect, u.withheld = SupportRefused, written != SupportRefused
		}
	}
	if u.effect == SupportPartial {
		if u.Only, err = compileOnly(u.Mark.Only); err != nil {
			return Use{}, fmt.Errorf("line %d: %s: only: %w", u.Line, markExtension, err)
		}
	}
	return u, nil
}

// compileOnly compiles the schema in a mark.
func compileOnly(text jsontext.Value) (*Schema, error) {
	var s openapi3.Schema
	if err := s.UnmarshalJSON(text); err != nil {
		return nil, err
	}
	c := newCompiler(forLimit, "")
	only, err := c.schema(&openapi3.SchemaRef{Value: &s})
	return only, errors.Join(err, c.link())
}

func (c *compiler) schema(ref *openapi3.SchemaRef) (*Schema, error) {
	if ref.Value == nil {
		return nil, fmt.Errorf("reference %s cannot be resolved", ref.Ref)
	}
	if s, ok := c.schemas[ref.Value]; ok {
		return s, nil
	}
	in := ref.Value
	s := &Schema{
		Name: strings.TrimPrefix(ref.Ref, "#/components/schemas/"), Description: in.Description,
		Format: in.Format,
	}
	c.schemas[in] = s
	err := errors.Join(checkKeywords(in), c.scalars(s, in), c.object(s, in), c.nested(s, in), c.union(s, in))
	if err != nil {
		return nil, err
	}
	return s, nil
}

func checkKeywords(in *openapi3.Schema) error {
	if in.Always != nil {
		return fmt.Errorf("line %d: a schema is written as true or false", line(in.Origin))
	}
	written, err := in.MarshalYAML()
	if err != nil {
		return err
	}
	members, _ := written.(map[string]any)
	for keyword := range members {
		if err := CheckKeyword(keyword); err != nil {
			return fmt.Errorf("line %d: %w", line(in.Origin), err)
		}
	}
	return nil
}

func (c *compiler) object(s *Schema, in *openapi3.Schema) error {
	for name, ref := range in.Properties {
		use, err := c.use(ref)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		s.Properties = append(s.Properties, Property{Name: name, Required: slices.Contains(in.Required, name), Use: use})
	}
	// The loader keeps properties in a map; their lines tell the order.
	slices.SortFunc(s.Properties, func(a, b Property) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return strings.Compare(a.Name, b.Name)
	})
	s.properties = make(map[string]*Property, len(s.Properties))
	for i := range s.Properties {
		p := &s.Properties[i]
		s.properties[p.Name] = p
		if p.Required {
			s.required = append(s.required, p)
		}
	}
	if err := s.checkNeeds(); err != nil {
		return err
	}
	for _, name := range in.Required {
		if s.properties[name] == nil {
			return fmt.Errorf("line %d: required property %s is not defined", line(in.Origin), name)
		}
	}
	return c.extra(s, in)
}

// extra compiles propertyNames and additionalProperties.
func (c *compiler) extra(s *Schema, in *openapi3.Schema) (err error) {
	if in.PropertyNames != nil {
		if s.Names, err = c.schema(in.PropertyNames); err != nil {
			return fmt.Errorf("propertyNames: %w", err)
		}
	}
	switch has := in.AdditionalProperties; {
	case has.Schema != nil:
		use, err := c.use(has.Schema)
		if err != nil {
			return fmt.Errorf("additionalProperties: %w", err)
		}
		s.Extra, s.Additional = ExtraChecked, &use
	case has.Has != nil && !*has.Has:
		s.Extra = ExtraRefused
	case has.Has != nil, len(s.Properties) == 0, c.purpose == forLimit:
		s.Extra = ExtraFree
	case c.purpose == forReply:
		s.Extra = ExtraRefused
	default:
		s.Extra = ExtraIgnored
	}
	return nil
}

func (c *compiler) nested(s *Schema, in *openapi3.Schema) error {
	if in.Items != nil {
		use, err := c.use(in.Items)
		if err != nil {
			return fmt.Errorf("items: %w", err)
		}
		s.Items = &use
	}
	if in.ContentSchema != nil && c.purpose == forReply {
		use, err := c.use(in.ContentSchema)
		if err != nil {
			return fmt.Errorf("contentSchema: %w", err)
		}
		s.Content = &use
	}
	return nil
}

func (c *compiler) union(s *Schema, in *openapi3.Schema) error {
	refs := in.OneOf
	if s.Exclusive = len(refs) > 0; !s.Exclusive {
		refs = in.AnyOf
	}
	if len(in.OneOf) > 0 && len(in.AnyOf) > 0 || len(refs) > 0 && len(in.Properties) > 0 {
		return fmt.Errorf("line %d: a union stands alone: without properties, and oneOf or anyOf but not both", line(in.Origin))
	}
	for _, ref := range refs {
		use, err := c.use(ref)
		if err != nil {
			return fmt.Errorf("%s: %w", ref.Ref, err)
		}
		s.Union = append(s.Union, use)
	}
	if in.Discriminator == nil {
		return nil
	}
	s.Discriminator = in.Discriminator.PropertyName
	s.branches = map[string]*Use{}
	for value, target := range in.Discriminator.Mapping {
		i := slices.IndexFunc(refs, func(ref *openapi3.SchemaRef) bool { return ref.Ref == target.Ref })
		if i < 0 {
			return fmt.Errorf("line %d: discriminator value %s selects no member of the union", line(in.Origin), value)
		}
		s.branches[value] = &s.Union[i]
	}
	return s.defaults(in)
}

// defaultMapping names the union member for discriminator values without a mapping.
const defaultMapping = "defaultMapping"

func (s *Schema) defaults(in *openapi3.Schema) error {
	target, ok := in.Discriminator.Extensions[defaultMapping]
	if !ok {
		return nil
	}
	for i, ref := range slices.Concat(in.OneOf, in.AnyOf) {
		if ref.Ref == target {
			s.Default = &s.Union[i]
			return nil
		}
	}
	return fmt.Errorf("line %d: %s selects no member of the union", line(in.Origin), defaultMapping)
}

// link finishes the schemas once all exist: which types a union accepts, for which fields
// null means absence, and which schemas withhold something.
func (c *compiler) link() error {
	for _, s := range c.schemas {
		s.Kinds = accepts(s, nil)
		s.any = s.unconstrained()
	}
	for _, u := range c.defaults {
		if !u.Schema.Fits(u.Default) {
			return fmt.Errorf("line %d: the default %s does not fit its schema", u.Line, u.Default)
		}
	}
	switch c.purpose {
	case forRequest:
		c.linkNull()
	case forReply:
		return c.linkWithheld()
	}
	return nil
}

func (c *compiler) linkNull() {
	for _, s := range c.schemas {
		for i := range s.Properties {
			p := &s.Properties[i]
			p.nullAbsent = p.Schema.Kinds&Null == 0 || p.effect == SupportRefused || p.effect == SupportIgnored
		}
	}
}

// accepts narrows the types of a schema by its union and its enum.
func accepts(s *Schema, seen []*Schema) Kinds {
	kinds := s.Kinds
	if len(s.Union) > 0 && !slices.Contains(seen, s) {
		var branches Kinds
		for _, use := range s.Union {
			branches |= accepts(use.Schema, append(seen, s))
		}
		kinds &= branches
	}
	if len(s.Enum) > 0 {
		var values Kinds
		for _, value := range s.Enum {
			values |= kindsOf(value.Kind())
		}
		kinds &= values
	}
	return kinds
}

func line(o *openapi3.Origin) int {
	if o == nil || o.Key == nil {
		return 0
	}
	return o.Key.Line
}
