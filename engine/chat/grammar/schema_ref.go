package grammar

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// meaning follows a schema that is a $ref and nothing else, so that what is
// referred to often becomes one rule. In a loop it is any of its schemas: that
// is reported when the rule is made.
func (r *reader) meaning(t *tree) *tree {
	var way []*tree
	for t.means == nil {
		r.meter.spend(1+len(t.members), 40)
		way = append(way, t)
		t.means = t
		if target := r.alias(t); target != nil {
			t = target
		}
	}
	for _, from := range way {
		from.means = t.means
	}
	return t.means
}

// alias returns what t refers to where it is a $ref and nothing else.
func (r *reader) alias(t *tree) *tree {
	ref := t.get("$ref")
	if ref == nil {
		return nil
	}
	for _, m := range t.members {
		if m.name != "$ref" && supportOf(m.name) != Annotation {
			return nil
		}
	}
	target, err := r.resolve(t, ref)
	if err != nil {
		return nil // reported when its rule is made
	}
	return target
}

// resolve finds what a $ref means: a JSON pointer into the same schema.
func (r *reader) resolve(t, ref *tree) (*tree, error) {
	if ref.kind != kindString {
		return nil, t.wrong("$ref must be a string.")
	}
	r.meter.spend(1+len(ref.text)/16, 6*len(ref.text))
	unknown := func() error {
		return t.wrong(fmt.Sprintf("$ref %q is not a pointer to a part of this schema.", cutName(ref.text)))
	}
	fragment, ok := strings.CutPrefix(ref.text, "#")
	if !ok {
		return nil, unknown()
	}
	pointer, err := url.PathUnescape(fragment)
	if err != nil {
		return nil, unknown()
	}
	if pointer == "" {
		return r.root, nil
	}
	if pointer[0] != '/' {
		return nil, unknown()
	}
	here := r.root
	for step := range strings.SplitSeq(pointer[1:], "/") {
		if here = here.step(pointerUnescaper.Replace(step)); here == nil {
			return nil, unknown()
		}
	}
	return here, nil
}

// step returns a member or an item, or nil.
func (t *tree) step(name string) *tree {
	if t.kind != kindArray {
		return t.get(name)
	}
	i, err := strconv.Atoi(name)
	if err != nil || i < 0 || i >= len(t.items) {
		return nil
	}
	return t.items[i]
}
