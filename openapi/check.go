package openapi

import (
	"bytes"
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Checked is a request body that fits its document.
type Checked struct {
	// Body is what to decode: the client's text without nulls that mean absence and fields
	// without effect, and with plain integers (1 for 1.0). Free-form JSON is unchanged,
	// field order included.
	Body []byte
	// Ignored lists what was removed because it has no effect, each name once.
	Ignored []Ignored

	skipped map[string][]int // removed array items, see Locate
}

// Ignored is a field without effect.
type Ignored struct {
	Name    string   // without indexes: messages[].cache_control; fit for a header value
	Pointer []string // of its first occurrence
	Mark    Mark     // zero if no document names the field
}

// Strict returns a violation for the first ignored field, or nil. It is for clients that
// prefer an error.
func Strict(ignored []Ignored) *Violation {
	if len(ignored) == 0 {
		return nil
	}
	first := ignored[0]
	v := &Violation{Pointer: first.Pointer, Rule: RuleIgnored, Reason: "has no effect", Mark: first.Mark}
	v.note(first.Mark.Note)
	return v
}

// maxIgnored limits what a client can make the server write into a header.
const maxIgnored = 32

// checker checks one value against one schema. It stops at the first violation; if a union
// leaves several schemas to try, it reports the most telling one.
//
// The validator of kin-openapi, which loads the documents, only accepts or rejects a
// decoded value. Ignored fields, nulls that mean absence, and the branch that a client
// meant would each need a second pass, and decoding loses the field order of tool schemas.
// TestAgainstKin holds both to the same verdicts; BenchmarkCheck compares their cost.
type checker struct {
	*tree
	path    []step
	ignored []Ignored
	skipped []skip
	edited  []int32 // nodes that render changes, to undo a branch
}

// step is one token of the path to a value.
type step struct {
	name  int32 // node of the field name, or -1
	index int32 // of the array item
}

func (t *tree) check(u *Use) (*checker, *Violation) {
	c := &checker{tree: t, path: make([]step, 0, 16)}
	return c, c.use(u, 0)
}

func (c *checker) result() Checked {
	slices.SortFunc(c.ignored, func(a, b Ignored) int { return cmp.Compare(a.Name, b.Name) })
	if len(c.edited) == 0 {
		return Checked{Body: c.text, Ignored: c.ignored}
	}
	return Checked{Body: c.render(make([]byte, 0, len(c.text)), 0), Ignored: c.ignored, skipped: groupByArray(c.skipped)}
}

func (c *checker) use(u *Use, i int32) *Violation {
	switch u.effect {
	case SupportIgnored:
		c.ignore(i, u.Mark, "")
		return nil
	case SupportRefused:
		if c.nodes[i].kind == 'n' || u.withheld && bytes.Equal(c.raw(i), u.Mark.Instead) {
			return nil
		}
		v := c.violation(RuleRefused, "is not supported")
		v.Mark = u.Mark
		return v.note(u.Mark.Note)
	}
	if v := c.schema(u.Schema, i); v != nil || u.Only == nil || c.nodes[i].kind == 'n' {
		return v
	}
	v := c.schema(u.Only, i)
	if v != nil {
		v.Mark = u.Mark
		v.note(u.Mark.Note)
	}
	return v
}

func (c *checker) schema(s *Schema, i int32) *Violation {
	if s.any {
		return nil
	}
	kind := c.nodes[i].kind
	if s.Kinds&kindsOf(kind) == 0 {
		if values := s.choices(); len(values) > 0 {
			return c.violation(RuleType, "must be "+oneOf(values)+c.sent(i))
		}
		return c.violation(RuleType, "must be "+s.Kinds.nouns())
	}
	var v *Violation
	switch kind {
	case '0':
		v = c.number(s, i)
	case '"':
		v = c.string(s, i)
	case '[':
		v = c.array(s, i)
	case '{':
		v = c.object(s, i)
	}
	if v == nil && len(s.Enum) > 0 && !c.inEnum(s, i) {
		v = c.violation(RuleEnum, "must be "+oneOf(s.Enum)+c.sent(i))
	}
	if v == nil && len(s.Union) > 0 {
		v = c.union(s, i)
	}
	return v
}

func (c *checker) array(s *Schema, i int32) *Violation {
	count := int32(0)
	if s.Items != nil || s.MinItems != nil || s.MaxItems != nil {
		for item := i + 1; item < c.nodes[i].next; item = c.nodes[item].next {
			if s.Items != nil {
				c.path = append(c.path, step{name: -1, index: count})
				if v := c.use(s.Items, item); v != nil {
					return v
				}
				c.path = c.path[:len(c.path)-1]
			}
			count++
		}
	}
	if v := c.size(uint64(count), s.MinItems, s.MaxItems, "item"); v != nil {
		return v
	}
	if s.UniqueItems && c.repeats(i) {
		return c.violation(RuleUnique, "must not hold the same item twice")
	}
	return nil
}

func (c *checker) object(s *Schema, i int32) *Violation {
	count, required := uint64(0), 0
	if len(s.Properties) > 0 || s.Extra != ExtraFree || s.Names != nil || s.MinProperties != nil || s.MaxProperties != nil {
		for name := i + 1; name < c.nodes[i].next; name = c.nodes[name+1].next {
			count++
			c.path = append(c.path, step{name: name})
			p, ok := s.properties[string(c.str(name))]
			v := c.fieldName(s, name)
			switch {
			case v != nil:
			case !ok:
				v = c.extra(s, name+1)
			case p.nullAbsent && c.nodes[name+1].kind == 'n':
				c.drop(name + 1)
			default:
				if p.Required {
					required++
				}
				v = c.use(&p.Use, name+1)
			}
			if v != nil {
				return v
			}
			if ok && p.Needs != "" {
				c.needs(i, p.Needs, name+1)
			}
			c.path = c.path[:len(c.path)-1]
		}
	}
	if required < len(s.required) {
		return c.missing(s, i)
	}
	return c.size(count, s.MinProperties, s.MaxProperties, "field")
}

// fieldName checks the name of a field. A bad one is a violation of the object.
func (c *checker) fieldName(s *Schema, name int32) *Violation {
	if s.Names == nil {
		return nil
	}
	v := c.schema(s.Names, name)
	if v != nil {
		v.Pointer = v.Pointer[:len(v.Pointer)-1]
		v.Reason = "has the field " + quote(c.str(name)) + ", whose name " + v.Reason
	}
	return v
}

func (c *checker) missing(s *Schema, i int32) *Violation {
	for _, p := range s.required {
		if m := c.member(i, p.Name); m < 0 || c.nodes[m].dropped {
			v := c.violation(RuleRequired, "is required")
			v.Pointer = append(v.Pointer, p.Name)
			return v
		}
	}
	return nil
}

func (c *checker) extra(s *Schema, i int32) *Violation {
	switch s.Extra {
	case ExtraChecked:
		return c.use(s.Additional, i)
	case ExtraIgnored:
		c.ignore(i, Mark{}, "")
	case ExtraRefused:
		return c.violation(RuleUnknown, "is not known")
	}
	return nil
}

func (c *checker) union(s *Schema, i int32) *Violation {
	if s.Discriminator != "" && c.nodes[i].kind == '{' {
		return c.discriminated(s, i)
	}
	kinds := kindsOf(c.nodes[i].kind)
	var worst, refused, foreign *Violation
	var fits *Use
	for b := range s.Union {
		branch := &s.Union[b]
		if branch.Schema.Kinds&kinds == 0 {
			continue
		}
		edits, ignored, skipped, depth := len(c.edited), len(c.ignored), len(c.skipped), len(c.path)
		v := c.use(branch, i)
		if v == nil && fits == nil {
			if fits = branch; !s.Exclusive {
				return nil
			}
			continue
		}
		if branch.effect == SupportRefused && c.schema(branch.Schema, i) == nil {
			refused = v // the client meant this form
		}
		c.undo(edits)
		c.ignored, c.skipped, c.path = c.ignored[:ignored], c.skipped[:skipped], c.path[:depth]
		if v == nil {
			return c.violation(RuleUnion, "fits more than one of its forms")
		}
		target := &worst
		if branch.effect == SupportRefused || c.nodes[i].kind == '[' && v.atFirst(depth) {
			target = &foreign
		}
		if v.better(*target) {
			*target = v
		}
	}
	if fits != nil {
		return nil
	}
	return cmp.Or(refused, worst, foreign)
}

// discriminated checks an object against the branch that its discriminator names. An object
// without discriminator gets the branch that does not require one, never the default
// branch, which is for unknown values.
func (c *checker) discriminated(s *Schema, i int32) *Violation {
	m := c.member(i, s.Discriminator)
	if m < 0 || c.nodes[m].kind == 'n' {
		if branch := s.undiscriminated(); branch != nil {
			return c.use(branch, i)
		}
		v := c.violation(RuleRequired, "is required")
		v.Pointer = append(v.Pointer, s.Discriminator)
		return v
	}
	if c.nodes[m].kind != '"' {
		wanted := "a string"
		if s.Default == nil {
			wanted = oneOf(s.served())
		}
		v := c.violation(RuleType, "must be "+wanted+c.sent(m))
		v.Pointer = append(v.Pointer, s.Discriminator)
		return v
	}
	value := c.str(m)
	branch, ok := s.branches[string(value)]
	if !ok {
		branch = s.Default
	}
	if branch == nil {
		v := c.violation(RuleEnum, "must be "+oneOf(s.served())+c.sent(m))
		v.Pointer = append(v.Pointer, s.Discriminator)
		return v
	}
	if branch.effect == SupportIgnored {
		c.ignore(i, branch.Mark, s.Discriminator+"="+escape(value))
		return nil
	}
	if branch.effect == SupportRefused {
		v := c.violation(RuleRefused, fmt.Sprintf("with the %s %s is not supported", s.Discriminator, quote(value)))
		v.Mark = branch.Mark
		return v.note(branch.Mark.Note)
	}
	return c.use(branch, i)
}

func (s *Schema) undiscriminated() *Use {
	for b := range s.Union {
		p, ok := s.Union[b].Schema.Property(s.Discriminator)
		if &s.Union[b] != s.Default && s.Union[b].Schema.Kinds&Object != 0 && (!ok || !p.Required) {
			return &s.Union[b]
		}
	}
	return nil
}

// ignore removes the value and records its name. The label tells kinds of array items
// apart.
func (c *checker) ignore(i int32, mark Mark, label string) {
	c.drop(i)
	if last := len(c.path) - 1; last >= 0 && c.path[last].name < 0 {
		pointer := c.pointer()
		c.skipped = append(c.skipped, skip{strings.Join(pointer[:last], "/"), int(c.path[last].index)})
	}
	if c.nodes[i].kind == 'n' {
		return
	}
	name := c.name(label)
	if len(c.ignored) == maxIgnored || slices.ContainsFunc(c.ignored, func(x Ignored) bool { return x.Name == name }) {
		return
	}
	c.ignored = append(c.ignored, Ignored{Name: name, Pointer: c.pointer(), Mark: mark})
}

func (c *checker) drop(i int32) {
	c.nodes[i].dropped = true
	c.edited = append(c.edited, i)
}

// writeInteger makes render write the number as an integer.
func (c *checker) writeInteger(i int32) {
	c.nodes[i].integer = true
	c.edited = append(c.edited, i)
}

func (c *checker) undo(edits int) {
	for _, i := range c.edited[edits:] {
		c.nodes[i].dropped, c.nodes[i].integer = false, false
	}
	c.edited = c.edited[:edits]
}

func (c *checker) violation(rule Rule, reason string) *Violation {
	return &Violation{Pointer: c.pointer(), Rule: rule, Reason: reason}
}

func (c *checker) pointer() []string {
	pointer := make([]string, len(c.path), len(c.path)+1)
	for i, s := range c.path {
		if s.name < 0 {
			pointer[i] = strconv.Itoa(int(s.index))
		} else {
			pointer[i] = string(c.str(s.name))
		}
	}
	return pointer
}

// name is the path without indexes, for a header. Clients choose field names, so each is
// cut and escaped.
func (c *checker) name(label string) string {
	var b strings.Builder
	for i, s := range c.path {
		if s.name < 0 {
			if i == len(c.path)-1 {
				b.WriteString("[" + label + "]")
			} else {
				b.WriteString("[]")
			}
			continue
		}
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(escape(c.str(s.name)))
	}
	return b.String()
}

func escape(name []byte) string { return url.PathEscape(string(name[:min(len(name), 64)])) }

func (c *checker) repeats(i int32) bool {
	var seen [][]byte
	for item := i + 1; item < c.nodes[i].next; item = c.nodes[item].next {
		text := canonical(c.raw(item))
		if slices.ContainsFunc(seen, func(other []byte) bool { return bytes.Equal(text, other) }) {
			return true
		}
		seen = append(seen, text)
	}
	return false
}
