package openapi

import (
	"encoding/json/jsontext"
	"fmt"
	"iter"
	"slices"
)

// Narrow removes from a reply what the document withholds: under
// [ProfileDocument], whatever is marked as unsupported. Where the mark has an
// Instead, that is the value; a required field becomes null, others are removed.
func (r *Reply) Narrow(body []byte) []byte {
	if !r.Narrows() {
		return body
	}
	narrowed, ok := narrow(r.Body, body)
	if !ok {
		panic("openapi: nothing is left of a reply") // a mark that no reply can obey: the client gets a 500
	}
	return narrowed
}

// Narrows reports whether [Reply.Narrow] can change anything.
func (r *Reply) Narrows() bool { return r.Body != nil && r.Body.narrows() }

// Narrows reports whether [Stream.Narrow] can change anything. It is asked once per
// stream, because a stream has a frame for every token.
func (s *Stream) Narrows() bool {
	return slices.ContainsFunc(s.Events, func(e Use) bool { return e.narrows() })
}

// Narrow does for the data of an event what [Reply.Narrow] does for a reply, and
// reports whether the event is sent at all.
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

// Sends reports whether replies and events of the operation may hold the component.
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

// Fields of an event in itemSchema.
const (
	eventMember = "event"
	dataMember  = "data"
)

// is reports whether a frame is this event. Events without a name differ in their
// data: a fixed text, or the required fields.
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
	t, v := parse(data, sent)
	return v == nil && t.nodes[0].kind == '{' && !slices.ContainsFunc(p.Schema.Content.Schema.required, func(p *Property) bool { return t.member(0, p.Name) < 0 })
}

func (u *Use) narrows() bool { return u.withheld || u.Schema.narrows }

// narrow reports whether anything is left to send.
func narrow(u *Use, text []byte) ([]byte, bool) {
	t, v := parse(text, sent)
	if v != nil {
		panic(fmt.Sprintf("openapi: a reply %s", v.Reason)) // nothing that is withheld may slip through
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

// narrower walks a reply along its schema. Its methods report whether the value may
// be sent; if not, the caller removes it from the object or array that holds it.
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
		if !n.fits(s.Union[b].Schema, i) {
			continue
		}
		if n.use(&s.Union[b], i) {
			return true
		}
		found = true
	}
	return !found
}

// fits reports whether a value is of a union's branch: by its type, and a string
// by the enum.
func (n *narrower) fits(s *Schema, i int32) bool {
	kind := n.nodes[i].kind
	if s.Kinds&kindsOf(kind) == 0 {
		return false
	}
	if kind != '"' || s.enum == nil {
		return true
	}
	text := n.str(i)
	_, withheld := s.withheld[string(text)]
	return withheld || s.enum[string(text)]
}

func (n *narrower) drop(i int32) { n.nodes[i].dropped, n.edited = true, true }

func (n *narrower) replace(i int32, instead jsontext.Value) bool {
	if instead == nil {
		return false
	}
	n.replaced[i], n.edited = instead, true
	return true
}

// linkWithheld finds the schemas that withhold something, at any depth, so that other
// replies need not be parsed.
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
			if p.vanishes() && p.Schema.Kinds&Null == 0 {
				return fmt.Errorf("line %d: %s: %s is required and not nullable, so it needs an instead", p.Line, markExtension, p.Name)
			}
		}
		if s.Content != nil && s.Content.vanishes() {
			return fmt.Errorf("%s: %s is the data of an event, so it needs an instead", markExtension, s.Name)
		}
	}
	return nil
}

// vanishes reports whether nothing may be left of a value.
func (u *Use) vanishes() bool {
	if u.withheld {
		return u.Mark.Instead == nil
	}
	for _, instead := range u.Schema.withheld {
		if instead == nil {
			return true
		}
	}
	// A stream goes without the event whose block is withheld.
	return u.Schema.Discriminator == "" && slices.ContainsFunc(u.Schema.Union, func(branch Use) bool { return branch.vanishes() })
}

// Uses yields the schemas of fields, items and union members.
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
