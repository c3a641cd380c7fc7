package grammar

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// path is the schemas that led to the present one without entering a value.
type path struct {
	schema *tree
	up     *path
	depth  int
}

func (p *path) has(t *tree) bool {
	for ; p != nil; p = p.up {
		if p.schema == t {
			return true
		}
	}
	return false
}

// apply narrows each of the shapes by a schema; anyOf makes more of them.
func (r *reader) apply(shapes []shape, t *tree, up *path) ([]shape, error) {
	r.meter.spend(2+len(shapes)+len(t.members), 40)
	switch {
	case t.kind == kindBool && t.yes:
		return shapes, nil
	case t.kind == kindBool:
		return nil, nil
	case t.kind != kindObject:
		return nil, t.wrong("A schema must be an object or a boolean.")
	case up.has(t):
		return nil, t.wrong("The schema refers to itself without an object or array between.")
	}
	here := &path{schema: t, up: up, depth: 1}
	if up != nil {
		here.depth = up.depth + 1
	}
	if here.depth > maxReferences {
		return nil, t.wrong(fmt.Sprintf("More than %d schemas are behind one another for one value.", maxReferences))
	}
	c, err := r.constraints(t)
	if err != nil {
		return nil, err
	}
	r.meter.spend(0, shapeBytes*len(shapes)/2)
	kept := make([]shape, 0, len(shapes))
	for _, s := range shapes {
		if s.merge(r.meter, c); s.types != 0 {
			kept = append(kept, s)
		}
	}
	return r.applyAll(kept, t, here)
}

// applyAll applies the schemas that a schema is made of.
func (r *reader) applyAll(shapes []shape, t *tree, here *path) ([]shape, error) {
	for _, m := range t.members {
		var err error
		switch m.name {
		case "$ref":
			var target *tree
			if target, err = r.resolve(t, m.value); err == nil {
				shapes, err = r.apply(shapes, target, here)
			}
		case "allOf":
			if err = schemaList(t, m); err != nil {
				break
			}
			for _, part := range m.value.items {
				if shapes, err = r.apply(shapes, part, here); err != nil {
					break
				}
			}
		case "anyOf", "oneOf":
			shapes, err = r.branch(shapes, t, m, here)
		}
		if err != nil {
			return nil, err
		}
	}
	return shapes, nil
}

func (r *reader) branch(shapes []shape, t *tree, m member, here *path) ([]shape, error) {
	if err := schemaList(t, m); err != nil {
		return nil, err
	}
	var all []shape
	for _, alternative := range m.value.items {
		narrowed, err := r.apply(shapes, alternative, here)
		if err != nil {
			return nil, err
		}
		r.meter.spend(len(narrowed), shapeBytes*len(narrowed))
		if all = append(all, narrowed...); len(all) > maxAlternatives {
			return nil, t.wrong(fmt.Sprintf("The schema has more than %d alternatives for one value.", maxAlternatives))
		}
	}
	return all, nil
}

func schemaList(t *tree, m member) error {
	if m.value.kind != kindArray || len(m.value.items) == 0 {
		return t.wrong(m.name + " must be an array of at least one schema.")
	}
	return nil
}

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
