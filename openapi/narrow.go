package openapi

import (
	"encoding/json/jsontext"
	"fmt"
	"iter"
	"slices"
)

// Narrow returns a reply without what its document withholds: what the
// interface document calls unsupported, under [ProfileDocument]. Where a mark
// says so there is another value instead, and null where a member is required.
func (r *Reply) Narrow(body []byte) []byte {
	if r.Body == nil || !r.Body.narrows() {
		return body
	}
	if narrowed, ok := narrow(r.Body, body); ok {
		return narrowed
	}
	return body
}

// Narrows reports whether there is something that [Stream.Narrow] withholds, for
// callers that have a frame for every token.
func (s *Stream) Narrows() bool {
	return slices.ContainsFunc(s.Events, func(e Use) bool { return e.narrows() })
}

// Narrow does for the data of an event what [Reply.Narrow] does. It reports
// whether there is to be such an event at all.
func (s *Stream) Narrow(event string, data []byte) ([]byte, bool) {
	for i := range s.Events {
		e := &s.Events[i]
		if !e.is(event, data) {
			continue
		}
		if e.withheld {
			return nil, false
		}
		if p, ok := e.Schema.properties[dataMember]; ok && p.Schema.Content != nil && p.Schema.Content.narrows() {
			return narrow(p.Schema.Content, data)
		}
		break
	}
	return data, true
}

// Sends reports whether the replies and events of the operation hold values of a
// component, which is so unless it is withheld somewhere.
func (o *Operation) Sends(component string) bool {
	seen := map[*Schema]bool{}
	var withheld func(u *Use) bool
	withheld = func(u *Use) bool {
		if u.withheld && u.Schema.Name == component {
			return true
		}
		if !u.Schema.narrows || seen[u.Schema] {
			return false
		}
		seen[u.Schema] = true
		for inside := range u.Schema.Uses() {
			if withheld(inside) {
				return true
			}
		}
		return false
	}
	for _, r := range o.Replies {
		if r.Body != nil && withheld(r.Body) || r.Stream != nil && slices.ContainsFunc(r.Stream.Events, func(e Use) bool { return withheld(&e) }) {
			return false
		}
	}
	return true
}

// Members of a frame in a stream's itemSchema.
const (
	eventMember = "event"
	dataMember  = "data"
)

// is reports whether a frame is an event. Those without a name are told apart by
// their data: one value, or the members that are required.
func (u *Use) is(event string, data []byte) bool {
	if p, ok := u.Schema.properties[eventMember]; ok {
		return p.Schema.enum[event]
	}
	p, ok := u.Schema.properties[dataMember]
	if event != "" || !ok {
		return false
	}
	if p.Schema.Content == nil {
		return p.Schema.enum[string(data)]
	}
	t, v := parse(data, unbounded)
	return v == nil && t.nodes[0].kind == '{' && !slices.ContainsFunc(p.Schema.Content.Schema.required, func(p *Property) bool { return t.member(0, p.Name) < 0 })
}

func (u *Use) narrows() bool { return u.withheld || u.Schema.narrows }

// narrow reports whether anything is left.
func narrow(u *Use, text []byte) ([]byte, bool) {
	t, v := parse(text, unbounded)
	if v != nil {
		return text, true // the server has written it: impossible
	}
	t.replaced = map[int32][]byte{}
	n := &narrower{tree: t}
	if !n.use(u, 0) {
		return nil, false
	}
	if !n.edited {
		return text, true
	}
	return t.render(make([]byte, 0, len(text)), 0), true
}

// narrower walks one reply along its schema. Its methods report whether a value
// may be sent, which its surroundings then do without.
type narrower struct {
	*tree
	edited bool
}

func (n *narrower) use(u *Use, i int32) bool {
	if u.withheld && n.nodes[i].kind != 'n' {
		return n.replace(i, u.Mark.Instead)
	}
	return n.schema(u.Schema, i)
}

func (n *narrower) schema(s *Schema, i int32) bool {
	if !s.narrows {
		return true
	}
	switch n.nodes[i].kind {
	case '"':
		if instead, ok := s.withheld[string(n.str(i))]; ok {
			return n.replace(i, instead)
		}
	case '[':
		if s.Items != nil {
			for item := i + 1; item < n.nodes[i].next; item = n.nodes[item].next {
				if !n.use(s.Items, item) {
					n.drop(item)
				}
			}
		}
	case '{':
		if !n.object(s, i) {
			return false
		}
	}
	return n.union(s, i)
}

func (n *narrower) object(s *Schema, i int32) bool {
	for name := i + 1; name < n.nodes[i].next; name = n.nodes[name+1].next {
		p, ok := s.properties[string(n.str(name))]
		switch {
		case !ok && s.Additional != nil && !n.use(s.Additional, name+1):
			n.drop(name + 1)
		case !ok || n.use(&p.Use, name+1):
		case !p.Required:
			n.drop(name + 1)
		case p.Schema.Kinds&Null == 0:
			return false
		default:
			n.replace(name+1, jsontext.Value("null"))
		}
	}
	return true
}

func (n *narrower) union(s *Schema, i int32) bool {
	kind := n.nodes[i].kind
	if s.Discriminator != "" && kind == '{' {
		branch := s.Default
		if m := n.member(i, s.Discriminator); m >= 0 && s.branches[string(n.str(m))] != nil {
			branch = s.branches[string(n.str(m))]
		}
		return branch == nil || n.use(branch, i)
	}
	found := false
	for b := range s.Union {
		if s.Union[b].Schema.Kinds&kindsOf(kind) == 0 {
			continue
		}
		if n.use(&s.Union[b], i) {
			return true
		}
		found = true
	}
	return !found
}

func (n *narrower) drop(i int32) { n.nodes[i].dropped, n.edited = true, true }

func (n *narrower) replace(i int32, instead jsontext.Value) bool {
	if instead == nil {
		return false
	}
	n.replaced[i], n.edited = instead, true
	return true
}

// linkWithheld finds the schemas in whose values something is withheld, and the
// members that nothing can stand in for.
func (c *compiler) linkWithheld() error {
	for changed := true; changed; {
		changed = false
		for _, s := range c.schemas {
			if s.narrows {
				continue
			}
			s.narrows = len(s.withheld) > 0
			for u := range s.Uses() {
				s.narrows = s.narrows || u.narrows()
			}
			changed = changed || s.narrows
		}
	}
	for _, s := range c.schemas {
		for _, p := range s.required {
			if p.withheld && p.Mark.Instead == nil && p.Schema.Kinds&Null == 0 {
				return fmt.Errorf("line %d: %s: %s is required and cannot be null, so the mark says what there is instead", p.Line, markExtension, p.Name)
			}
		}
	}
	return nil
}

// Uses are the schemas right inside a schema.
func (s *Schema) Uses() iter.Seq[*Use] {
	return func(yield func(*Use) bool) {
		for i := range s.Properties {
			if !yield(&s.Properties[i].Use) {
				return
			}
		}
		for i := range s.Union {
			if !yield(&s.Union[i]) {
				return
			}
		}
		for _, u := range []*Use{s.Additional, s.Items, s.Content} {
			if u != nil && !yield(u) {
				return
			}
		}
	}
}
