package grammar

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// path is the schemas that led to the current one without entering a value.
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

// apply adds the constraints of a schema to each shape; anyOf multiplies the shapes.
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

// applyAll applies the subschemas of a schema.
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

// meaning follows schemas that are only a $ref, so that a shared target becomes one rule.
// In a loop it returns any of the schemas; the error comes when the rule is made.
func (r *reader) meaning(t *tree) *tree {
	var way []*tree
	for t.target == nil {
		r.meter.spend(1+len(t.members), 40)
		way = append(way, t)
		t.target = t
		if target := r.alias(t); target != nil {
			t = target
		}
	}
	for _, from := range way {
		from.target = t.target
	}
	return t.target
}

// alias returns the target of t if it is only a $ref.
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

// resolve finds the target of a $ref: a JSON pointer into the same schema.
func (r *reader) resolve(t, ref *tree) (*tree, error) {
	if ref.kind != kindString {
		return nil, t.wrong("$ref must be a string.")
	}
	r.meter.spend(1+len(ref.text)/16, 6*len(ref.text))
	unknown := func() error {
		return t.wrong(fmt.Sprintf("$ref %q is not a pointer to a part of this schema.", shortenName(ref.text)))
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
