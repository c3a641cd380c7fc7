package grammar

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// Issue is a keyword of a schema that is present and cannot be enforced.
type Issue struct {
	Pointer string // JSON pointer of the schema that holds it
	Keyword string
}

// SchemaError says that a schema is invalid, or that nothing satisfies it.
// Reason is a sentence for the client.
type SchemaError struct {
	Pointer string // JSON pointer of the schema that is wrong; empty: the root
	Reason  string
}

func (e *SchemaError) Error() string {
	if e.Pointer == "" {
		return e.Reason
	}
	return e.Pointer + ": " + e.Reason
}

// Schema is the JSON text that follows a JSON Schema, draft 2020-12 with
// what is usual of the older drafts and of OpenAPI. [Keywords] says what is
// enforced. The text is narrower than the schema where that serves a model:
//
//   - members come in the order of properties; optional ones may be left out;
//   - an object with properties and without additionalProperties has no
//     other members;
//   - without type, the other keywords say which types are meant;
//   - names and constants have one spelling, without needless escapes.
//
// The issues name the keywords that are present and not enforced, in the
// order in which they were met. An error is of type [*SchemaError]. A schema
// that Schema accepts compiles.
func Schema(schema json.RawMessage) (Node, []Issue, error) {
	root, err := parseTree(schema)
	if err != nil {
		return nil, nil, err
	}
	r := &reader{root: root, rules: map[string]*rule{}, known: map[*tree]*shape{}, meanings: map[*tree]*tree{}, reported: map[Issue]bool{}}
	node, err := r.read()
	if err != nil {
		return nil, nil, err
	}
	switch _, err := Compile(node); {
	case errors.Is(err, ErrTooLarge):
		return nil, nil, tooLargeAt(root)
	case err != nil:
		return nil, nil, &SchemaError{Reason: "No value can satisfy the schema."}
	}
	return node, r.issues, nil
}

// Limits of a schema. maxAlternatives is for one value: anyOf inside of
// allOf multiplies.
const (
	maxRules        = 20_000
	maxAlternatives = 2_000
	maxReferences   = 200     // one behind the other, without entering a value
	maxNamed        = 5_000   // members of one object, or items of one prefix
	maxName         = 10_000  // bytes of the name of a member
	maxWork         = 500_000 // schemas visited, and instructions of enums' grammars
)

// reader turns a schema into nodes. What one value must satisfy is a set of
// schemas (a property may be described by several parts of an allOf); each
// set that occurs becomes one rule, so recursion ends.
type reader struct {
	root     *tree
	rules    map[string]*rule
	pending  []pendingRule
	late     []func() error   // enums beside other keywords, when all rules have bodies
	known    map[*tree]*shape // what one schema says
	meanings map[*tree]*tree
	issues   []Issue
	reported map[Issue]bool
	work     int
}

type pendingRule struct {
	rule *rule
	all  []*tree
}

func (r *reader) read() (Node, error) {
	root := r.value([]*tree{r.root})
	if err := r.finishRules(); err != nil {
		return nil, err
	}
	for len(r.late) > 0 { // the last are the innermost, which the others need
		last := r.late[len(r.late)-1]
		r.late = r.late[:len(r.late)-1]
		if err := last(); err != nil {
			return nil, err
		}
		if err := r.finishRules(); err != nil {
			return nil, err
		}
	}
	return root, nil
}

func (r *reader) finishRules() error {
	for len(r.pending) > 0 {
		p := r.pending[0]
		r.pending = r.pending[1:]
		body, err := r.body(p.all)
		if err != nil {
			return err
		}
		p.rule.body = body
	}
	return nil
}

// value is the text of a value that satisfies all of the schemas. What is
// wrong with them is found later.
func (r *reader) value(all []*tree) Node {
	var key strings.Builder
	var distinct []*tree
	for _, t := range all {
		t = r.meaning(t)
		if t.kind == kindBool && t.yes || t.kind == kindObject && len(t.members) == 0 {
			continue
		}
		if !containsTree(distinct, t) {
			distinct = append(distinct, t)
			key.WriteString(t.pointer + "\n")
		}
	}
	if len(distinct) == 0 {
		return JSONValue()
	}
	known, ok := r.rules[key.String()]
	if !ok {
		known = &rule{}
		r.rules[key.String()] = known
		r.pending = append(r.pending, pendingRule{known, distinct})
	}
	return &ref{known}
}

// meaning follows a schema that is a $ref and nothing else, so that what is
// referred to often becomes one rule.
func (r *reader) meaning(t *tree) *tree {
	if known, ok := r.meanings[t]; ok {
		return known
	}
	r.meanings[t] = t // what a loop means; reported when its rule is made
	if target := r.alias(t); target != nil {
		r.meanings[t] = r.meaning(target)
	}
	return r.meanings[t]
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

func containsTree(list []*tree, t *tree) bool {
	for _, other := range list {
		if other == t {
			return true
		}
	}
	return false
}

func (r *reader) body(all []*tree) (Node, error) {
	if len(r.rules) > maxRules {
		return nil, tooLargeAt(all[0])
	}
	shapes := []shape{{types: anyType}}
	for _, t := range all {
		var err error
		if shapes, err = r.apply(shapes, t, nil); err != nil {
			return nil, err
		}
	}
	var nodes []Node
	for i := range shapes {
		n, err := r.shape(&shapes[i])
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, n)
	}
	return Choice(nodes...), nil
}

func (r *reader) issue(t *tree, keyword string) {
	i := Issue{t.pointer, keyword}
	if !r.reported[i] {
		r.reported[i] = true
		r.issues = append(r.issues, i)
	}
}

func tooLargeAt(t *tree) error {
	return &SchemaError{t.pointer, "The schema is too large to enforce."}
}

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
	if r.work += 1 + len(shapes); r.work > maxWork {
		return nil, tooLargeAt(t)
	}
	switch {
	case t.kind == kindBool && t.yes:
		return shapes, nil
	case t.kind == kindBool:
		return nil, nil
	case t.kind != kindObject:
		return nil, &SchemaError{t.pointer, "A schema must be an object or a boolean."}
	case up.has(t):
		return nil, &SchemaError{t.pointer, "The schema refers to itself without an object or array between."}
	}
	here := &path{schema: t, up: up, depth: 1}
	if up != nil {
		here.depth = up.depth + 1
	}
	if here.depth > maxReferences {
		return nil, &SchemaError{t.pointer, fmt.Sprintf("More than %d schemas are behind one another for one value.", maxReferences)}
	}
	c, err := r.constraints(t)
	if err != nil {
		return nil, err
	}
	var kept []shape
	for _, s := range shapes {
		if s.merge(c); s.types != 0 {
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
		if all = append(all, narrowed...); len(all) > maxAlternatives {
			return nil, &SchemaError{t.pointer, fmt.Sprintf("The schema has more than %d alternatives for one value.", maxAlternatives)}
		}
	}
	return all, nil
}

func schemaList(t *tree, m member) error {
	if m.value.kind != kindArray || len(m.value.items) == 0 {
		return &SchemaError{t.pointer, m.name + " must be an array of at least one schema."}
	}
	return nil
}

// resolve finds what a $ref means: a JSON pointer into the same schema.
func (r *reader) resolve(t, ref *tree) (*tree, error) {
	if ref.kind != kindString {
		return nil, &SchemaError{t.pointer, "$ref must be a string."}
	}
	unknown := &SchemaError{t.pointer, fmt.Sprintf("$ref %q is not a pointer to a part of this schema.", ref.text)}
	fragment, ok := strings.CutPrefix(ref.text, "#")
	if !ok {
		return nil, unknown
	}
	pointer, err := url.PathUnescape(fragment)
	if err != nil {
		return nil, unknown
	}
	if pointer == "" {
		return r.root, nil
	}
	if pointer[0] != '/' {
		return nil, unknown
	}
	here := r.root
	for _, step := range strings.Split(pointer[1:], "/") {
		if here = here.step(pointerUnescaper.Replace(step)); here == nil {
			return nil, unknown
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
