package conformance

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"fmt"
	"slices"
	"strings"

	"github.com/diglot/diglot/openapi"
)

// Want is the expected reply to a case.
type Want string

// The closed list of expected replies.
const (
	WantInvalid Want = "invalid" // 400 that names Case.Pointer
	WantIgnored Want = "ignored" // 200, and Diglot-Ignored lists Case.Ignored
	WantNothing Want = "nothing" // 200 as if the field were absent
)

// Case is one request and the expected reply.
type Case struct {
	Name    string   // the field and what is wrong with it
	Field   string   // path without indexes: messages[role=user].content
	Body    []byte   // JSON
	Base    []byte   // the same body without the odd value, and without any for WantNothing
	Pointer []string // from the body to the invalid value
	Want    Want
	Rule    openapi.Rule // that is violated, for WantInvalid
	Ignored string       // name in Diglot-Ignored, for WantIgnored

	Nullable  bool         // the document allows null there, and the case has it
	Extension bool         // the field, or one around it, is in no document of the vendor
	Mark      openapi.Mark // of the field
}

// Cases makes the cases of an operation, in declared order. Bodies start from the given
// examples and the document's own if those reach a field, else from the required fields
// alone. For rules beyond the schema (a tool's result follows its call), the examples
// should reach every kind of message and part.
func Cases(o *openapi.Operation, examples ...[]byte) ([]Case, error) {
	if o.Body == nil {
		return nil, nil
	}
	w := &walker{found: map[place]site{}}
	for _, text := range o.Examples {
		examples = append(examples, text)
	}
	for _, text := range examples {
		if _, v := o.Check(text); v != nil {
			continue // the profile refuses it, which would hide what a case is about
		}
		var body any
		if err := json.Unmarshal(text, &body); err != nil {
			return nil, fmt.Errorf("example of %s: %w", o.ID, err)
		}
		w.find(o.Body.Schema, site{value: body, wrap: func(value any) any { return value }})
	}
	w.below(o.Body.Schema, site{wrap: func(value any) any { return value }})
	return w.cases, w.err
}

// site is a path in a request.
type site struct {
	pointer []string
	name    string        // without indexes, as Diglot-Ignored has it
	value   any           // a valid value there; nil: make one
	wrap    func(any) any // makes a body with the given value there
	decides string        // discriminator that may have other values; or empty
}

func (at site) member(object map[string]any, name string) site {
	return site{
		pointer: append(slices.Clip(at.pointer), name),
		name:    strings.TrimPrefix(at.name+"."+name, "."),
		value:   object[name],
		wrap: func(value any) any {
			changed := map[string]any{}
			for other, v := range object {
				changed[other] = v
			}
			if changed[name] = value; value == (absent{}) {
				delete(changed, name)
			}
			return at.wrap(changed)
		},
	}
}

func (at site) item(array []any, i int) site {
	return site{
		pointer: append(slices.Clip(at.pointer), fmt.Sprint(i)),
		name:    at.name + "[]",
		value:   array[i],
		wrap: func(value any) any {
			changed := slices.Clone(array)
			changed[i] = value
			return at.wrap(changed)
		},
	}
}

// kind adds the discriminator's value to the name of an array item.
func (at site) kind(s *openapi.Schema, value string) string {
	array, ok := strings.CutSuffix(at.name, "[]")
	if !ok {
		return at.name
	}
	return fmt.Sprintf("%s[%s=%s]", array, s.Discriminator, value)
}

// absent stands for no value.
type absent struct{}

// place is a schema at one path of a request.
type place struct {
	schema *openapi.Schema
	name   string // without indexes
}

type walker struct {
	found map[place]site    // where the examples hold an object
	open  []*openapi.Schema // being walked, to end recursion
	cases []Case
	err   error

	extensions int // of the fields that are being walked
}

// under counts a field while what is below it is walked.
func (w *walker) under(m openapi.Mark) (leave func()) {
	if m.Document != openapi.ListingExtension {
		return func() {}
	}
	w.extensions++
	return func() { w.extensions-- }
}

// find records the first object of an example at each place.
func (w *walker) find(s *openapi.Schema, at site) {
	switch value := at.value.(type) {
	case map[string]any:
		if branch := branchOf(s, value); branch != nil {
			w.find(branch.Schema, at)
			return
		}
		here := place{s, at.name}
		if _, ok := w.found[here]; !ok && len(s.Properties) > 0 {
			w.found[here] = at
		}
		for i := range s.Properties {
			if p := &s.Properties[i]; value[p.Name] != nil {
				w.find(p.Schema, at.member(value, p.Name))
			}
		}
	case []any:
		s = arrayOf(s)
		for i := range value {
			if s != nil && s.Items != nil {
				w.find(s.Items.Schema, at.item(value, i))
			}
		}
	}
}

// branchOf returns the union member that an object belongs to, or nil.
func branchOf(s *openapi.Schema, object map[string]any) *openapi.Use {
	if name, ok := object[s.Discriminator].(string); ok && s.Discriminator != "" {
		branch, _ := s.Branch(name)
		return branch
	}
	for i := range s.Union {
		if s.Union[i].Schema.Kinds&openapi.Object != 0 {
			return &s.Union[i]
		}
	}
	return nil
}

func arrayOf(s *openapi.Schema) *openapi.Schema {
	for i := range s.Union {
		if s.Union[i].Schema.Kinds&openapi.Array != 0 {
			return arrayOf(s.Union[i].Schema)
		}
	}
	return s
}

func (w *walker) add(at site, value any, c Case, oddity string) {
	body, err := json.Marshal(at.wrap(value), json.Deterministic(true))
	if err != nil && w.err == nil {
		w.err = fmt.Errorf("%s, %s: %w", at.name, oddity, err)
	}
	if c.Pointer == nil {
		c.Pointer = at.pointer
	}
	c.Extension = w.extensions > 0 || c.Mark.Document == openapi.ListingExtension
	c.Name, c.Body, c.Field = at.name+": "+oddity, body, at.name
	if c.Base = w.base(at); c.Want == WantNothing {
		c.Base = w.base(site{wrap: at.wrap})
	}
	w.cases = append(w.cases, c)
}

// base is the body with the value that a site has in its example, or without any.
func (w *walker) base(at site) []byte {
	value := at.value
	if value == nil {
		value = absent{}
	}
	body, err := json.Marshal(at.wrap(value), json.Deterministic(true))
	if err != nil {
		return nil // it has no body without this value: an item of an array
	}
	return body
}

// use adds the cases of a field.
func (w *walker) use(u *openapi.Use, at site) {
	defer w.under(u.Mark)()
	switch u.Mark.Server {
	case openapi.SupportIgnored:
		w.add(at, valid(u.Schema), Case{Want: WantIgnored, Ignored: at.name, Mark: u.Mark}, "has no effect")
		w.add(at, wrongType(0), Case{Want: WantIgnored, Ignored: at.name, Mark: u.Mark}, "has no effect, whatever it is")
		return
	case openapi.SupportRefused:
		w.add(at, valid(u.Schema), Case{Want: WantInvalid, Rule: openapi.RuleRefused, Mark: u.Mark}, "refused")
		return
	case openapi.SupportPartial:
		w.limit(u, at)
	}
	if u.Schema.Kinds != openapi.AnyKind {
		w.add(at, wrongType(u.Schema.Kinds), Case{Want: WantInvalid, Rule: openapi.RuleType, Mark: u.Mark}, "wrong type")
	}
	w.scalar(u, at)
	w.below(u.Schema, at)
}

const overLimit = "over the limit of the server: "

// limit adds a value that fits the document but not the server's limit.
func (w *walker) limit(u *openapi.Use, at site) {
	for _, b := range invalid(u.Only) {
		if fits(u.Schema, b.value) {
			w.add(at, b.value, Case{Want: WantInvalid, Rule: b.rule, Mark: u.Mark}, overLimit+b.oddity)
			return
		}
	}
}

// scalar adds values that violate the field's own rules.
func (w *walker) scalar(u *openapi.Use, at site) {
	for _, b := range invalid(u.Schema) {
		w.add(at, b.value, Case{Want: WantInvalid, Rule: b.rule, Mark: u.Mark}, b.oddity)
	}
}

// below adds the cases of the fields inside a value.
func (w *walker) below(s *openapi.Schema, at site) {
	if slices.Contains(w.open, s) {
		return
	}
	w.open = append(w.open, s)
	defer func() { w.open = w.open[:len(w.open)-1] }()
	decides := at.decides
	if known, ok := w.found[place{s, at.name}]; ok {
		at = known
	}
	if len(s.Properties) > 0 {
		w.object(s, at, decides)
	}
	if s.Items != nil {
		array := []any{valid(s.Items.Schema)}
		w.use(s.Items, at.item(array, 0))
	}
	if s.Additional != nil {
		w.use(s.Additional, at.member(map[string]any{}, "7"))
	}
	if s.Names != nil {
		for _, b := range invalid(s.Names) {
			name, _ := b.value.(string)
			w.add(at, map[string]any{name: 1}, Case{Want: WantInvalid, Rule: b.rule}, "a field whose name is "+b.oddity)
		}
	}
	w.union(s, at)
}

// object adds the cases of an object's fields, except the discriminator.
func (w *walker) object(s *openapi.Schema, at site, decides string) {
	object, ok := at.value.(map[string]any)
	if !ok {
		object = valid(s).(map[string]any)
	}
	for i := range s.Properties {
		p := &s.Properties[i]
		if p.Name == decides {
			continue
		}
		field := at.member(object, p.Name)
		if p.Required {
			missing := Case{Want: WantInvalid, Rule: openapi.RuleRequired, Mark: p.Mark}
			w.add(field, absent{}, missing, "absent")
			if p.Schema.Kinds&openapi.Null == 0 {
				w.add(field, nil, missing, "null")
			}
		} else {
			w.add(field, nil, Case{Want: WantNothing, Mark: p.Mark, Nullable: p.Schema.Kinds&openapi.Null != 0}, "null")
		}
		w.use(&p.Use, field)
		if p.Needs != "" {
			w.add(field, valid(p.Schema), Case{Want: WantIgnored, Ignored: field.name, Mark: p.Mark}, "without "+p.Needs)
		}
	}
	const unknown = "not_in_the_document"
	switch field := at.member(object, unknown); s.Extra {
	case openapi.ExtraIgnored:
		w.add(field, jsontext.Value(`{"a":[1]}`), Case{Want: WantIgnored, Ignored: field.name}, "unknown")
	case openapi.ExtraRefused:
		w.add(field, 1, Case{Want: WantInvalid, Rule: openapi.RuleUnknown}, "unknown")
	}
}

func (w *walker) union(s *openapi.Schema, at site) {
	if s.Discriminator != "" {
		w.unknown(s, at)
	}
	for i := range s.Union {
		branch := &s.Union[i]
		if branch == s.Default || slices.Contains(s.Values(), discriminatorOf(s, branch)) {
			continue
		}
		if branch.Mark.Server == openapi.SupportRefused {
			w.add(at, valid(branch.Schema), Case{Want: WantInvalid, Rule: openapi.RuleRefused, Mark: branch.Mark}, "a form that is refused")
			continue
		}
		leave := w.under(branch.Mark)
		if !overlaps(s, i) {
			w.scalar(branch, at)
		}
		w.below(branch.Schema, site{pointer: at.pointer, name: at.name, wrap: at.wrap})
		leave()
	}
	for _, value := range s.Values() {
		branch, _ := s.Branch(value)
		w.branch(s, branch, value, at)
	}
}

// unknown adds an object with an unknown discriminator value, unless the default branch
// accepts it.
func (w *walker) unknown(s *openapi.Schema, at site) {
	const value = "no_such_value"
	if s.Default == nil {
		pointer := append(slices.Clip(at.pointer), s.Discriminator)
		odd := map[string]any{s.Discriminator: value}
		w.add(at, odd, Case{Want: WantInvalid, Rule: openapi.RuleEnum, Pointer: pointer}, "unknown "+s.Discriminator)
		return
	}
	field := at.member(map[string]any{}, s.Discriminator)
	switch mark := s.Default.Mark; mark.Server {
	case openapi.SupportIgnored:
		w.add(field, value, Case{Want: WantIgnored, Ignored: at.kind(s, value), Mark: mark}, "unknown")
	case openapi.SupportRefused:
		w.add(field, value, Case{Want: WantInvalid, Rule: openapi.RuleRefused, Pointer: at.pointer, Mark: mark}, "unknown")
	}
}

func (w *walker) branch(s *openapi.Schema, branch *openapi.Use, value string, at site) {
	// One branch may stand for several values.
	defer w.under(branch.Mark)()
	named, _ := valid(branch.Schema).(map[string]any)
	named[s.Discriminator] = value
	switch branch.Mark.Server {
	case openapi.SupportIgnored:
		w.add(at, named, Case{Want: WantIgnored, Ignored: at.kind(s, value), Mark: branch.Mark}, value+" has no effect")
	case openapi.SupportRefused:
		w.add(at, named, Case{Want: WantInvalid, Rule: openapi.RuleRefused, Mark: branch.Mark}, value+" is refused")
	default:
		below := site{pointer: at.pointer, name: at.name, wrap: at.wrap}
		if s.Default != nil {
			below.decides = s.Discriminator
		}
		w.below(branch.Schema, below)
	}
}

// discriminatorOf returns a value that selects the branch, or "".
func discriminatorOf(s *openapi.Schema, branch *openapi.Use) string {
	for _, value := range s.Values() {
		if b, _ := s.Branch(value); b == branch {
			return value
		}
	}
	return ""
}

// overlaps reports whether another union member takes values of the same type, so that
// violating one proves nothing.
func overlaps(s *openapi.Schema, i int) bool {
	for other := range s.Union {
		if other != i && s.Union[other].Schema.Kinds&s.Union[i].Schema.Kinds != 0 {
			return true
		}
	}
	return false
}
