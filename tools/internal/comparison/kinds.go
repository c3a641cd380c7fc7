package comparison

import (
	"maps"

	"github.com/diglot/diglot/openapi"
)

// kinds compares types and values: of a request those that the vendor accepts, of a
// reply those that we send.
func (c *comparer) kinds(field string, v, o shape, mark openapi.Mark) {
	sent, taken := o, v
	if c.request {
		sent, taken = v, o
	}
	if taken.any {
		return
	}
	if sent.any {
		c.add(field, Type, v.text(), o.text(), mark)
		return
	}
	beyond := map[string]values{}
	kind := Values
	for name, some := range sent.kinds {
		if name == "null" && c.request {
			continue // null means absent for a field
		}
		allowed, ok := taken.kinds[name]
		if number, is := taken.kinds["number"]; !ok && name == "integer" && is {
			allowed, ok = number, true
		}
		switch {
		case !ok:
			kind = Type
		case allowed != nil && !allowed.cover(name, some):
			beyond[name] = some.without(allowed)
		}
	}
	switch {
	case kind == Type:
		c.add(field, kind, v.text(), o.text(), mark)
	case len(beyond) == 0:
	case c.request:
		c.add(field, kind, shape{kinds: beyond}.text(), "", mark)
	default:
		c.add(field, kind, "", shape{kinds: beyond}.text(), mark)
	}
}

func (v values) cover(kind string, other values) bool {
	if other == nil {
		return kind == "boolean" && len(v) == 2 || kind == "null"
	}
	return len(other.without(v)) == 0
}

func (v values) without(other values) values {
	if v == nil {
		return nil
	}
	rest := maps.Clone(v)
	maps.DeleteFunc(rest, func(text string, _ bool) bool { return other[text] })
	return rest
}
