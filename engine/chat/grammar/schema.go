package grammar

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
)

// Issue is a keyword that cannot be enforced.
type Issue struct {
	Pointer string // JSON pointer of the schema that holds it
	Keyword string
}

// SchemaError is the error of an invalid or unsatisfiable schema. Reason is a sentence
// for the client.
type SchemaError struct {
	Pointer string // JSON pointer of the faulty schema; empty: the root
	Reason  string
	cause   error
}

func (e *SchemaError) Unwrap() error { return e.cause }

func (e *SchemaError) Error() string {
	if e.Pointer == "" {
		return e.Reason
	}
	return e.Pointer + ": " + e.Reason
}

// Schema returns the JSON texts that satisfy a JSON Schema: draft 2020-12 with common
// parts of older drafts and OpenAPI; see keywords.go. It is stricter than the schema
// where that helps a model:
//
//   - properties come in the order of the schema; optional ones may be left out;
//   - an object with properties but no additionalProperties allows no others;
//   - without type, the other keywords imply the types;
//   - names and constants are not escaped needlessly.
//
// The issues list the keywords that are not enforced, in order. Reading uses the budget
// of ctx. Errors are a [*SchemaError], which may wrap [ErrTooLarge], or that of ctx.
// Accepted schemas are satisfiable.
func Schema(ctx context.Context, schema json.RawMessage) (Node, []Issue, error) {
	r, err := readSchema(ctx, schema, false)
	if err != nil {
		return nil, nil, err
	}
	return r.source.root, r.issues, nil
}

// readSchema reads a schema, and its root's properties if requested.
func readSchema(ctx context.Context, schema json.RawMessage, properties bool) (_ *reader, err error) {
	r := &reader{meter: newMeter(ctx), source: &source{}, rules: map[string]*rule{}, single: map[*tree]*rule{}, reported: map[Issue]bool{}}
	defer func() {
		if errors.Is(err, ErrTooLarge) {
			err = r.tooLarge()
		}
	}()
	defer r.meter.settle(&err)
	if r.root, err = parseTree(r.meter, schema); err != nil {
		return nil, err
	}
	all, wanted := []*tree{r.root}, "value"
	if properties {
		all, wanted = append(all, anyObject()), "object"
	}
	if r.source.root, err = r.read(all); err != nil {
		return nil, err
	}
	if properties {
		r.readProperties()
	}
	a := newAnalysis(r.meter)
	for _, rule := range r.made {
		a.run(&ref{rule})
	}
	a.settleRules(r.made)
	if top, ok := r.source.root.(*ref); ok && !top.rule.satisfiable {
		return nil, r.unsatisfiable(wanted)
	}
	return r, nil
}

// unsatisfiable is the error of an unsatisfiable schema, which may be due to a keyword
// that is not enforced.
func (r *reader) unsatisfiable(wanted string) *SchemaError {
	if len(r.issues) == 0 {
		return &SchemaError{Reason: "No " + wanted + " can satisfy the schema."}
	}
	left := r.issues[0]
	return &SchemaError{
		Pointer: left.Pointer,
		Reason:  fmt.Sprintf("No %s can satisfy the schema without the keyword %q, which cannot be enforced.", wanted, left.Keyword),
	}
}

// Limits of a schema. maxAlternatives is per value: anyOf within allOf multiplies.
const (
	maxRules        = 20_000
	maxAlternatives = 2_000
	maxReferences   = 200    // chained without entering a value
	maxNamed        = 5_000  // properties of an object, or prefix items
	maxName         = 10_000 // bytes of a property name
)

// reader converts a schema to nodes. A value must satisfy a set of schemas, as parts of
// an allOf may describe the same property. Each distinct set becomes one rule, so
// recursion ends.
type reader struct {
	meter        *meter
	source       *source
	root         *tree
	current      *tree // whose rule is being made
	single       map[*tree]*rule
	rules        map[string]*rule // of several schemas, by their numbers
	made         []*rule
	pending      []pendingRule
	deferred     []func() error // enums beside other keywords, when all rules have bodies
	stringSchema *tree
	sets         int // sets of schemas that were looked at
	chars        map[string]Node
	numbers      map[numberRangeKey]Node

	issues         []Issue
	reported       map[Issue]bool
	rootProperties []Property // property of the root, where wanted
}

type pendingRule struct {
	rule *rule
	all  []*tree
}

// read returns the node of a value that satisfies all schemas.
func (r *reader) read(all []*tree) (Node, error) {
	root := r.value(all)
	if err := r.finishRules(); err != nil {
		return nil, err
	}
	for len(r.deferred) > 0 { // the last are the innermost, which the others need
		last := r.deferred[len(r.deferred)-1]
		r.deferred = r.deferred[:len(r.deferred)-1]
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
		r.current = p.all[0]
		body, err := r.body(p.all)
		if err != nil {
			return err
		}
		p.rule.body = body
	}
	return nil
}

// ruleBytes is what a rule takes, with its entries in maps and lists, and its
// nodes; shapeBytes is a shape in a list that grows.
const (
	ruleSize   = 500
	shapeBytes = 600
)

// value returns a reference to the rule of a value that satisfies all schemas. Errors in
// them are found later.
func (r *reader) value(all []*tree) Node {
	r.meter.spend(2+len(all), 64+8*len(all))
	r.sets++
	distinct := make([]*tree, 0, len(all))
	for _, t := range all {
		t = r.meaning(t)
		if t.kind == kindBool && t.yes || t.kind == kindObject && len(t.members) == 0 {
			continue
		}
		if t.mark != r.sets {
			t.mark = r.sets
			distinct = append(distinct, t)
		}
	}
	switch len(distinct) {
	case 0:
		return JSONValue()
	case 1:
		t := distinct[0]
		if r.single[t] == nil {
			r.single[t] = r.rule(distinct)
		}
		return &ref{r.single[t]}
	}
	r.meter.spend(len(distinct), 16*len(distinct))
	key := make([]byte, 0, 4*len(distinct))
	for _, t := range distinct {
		key = binary.LittleEndian.AppendUint32(key, uint32(t.number))
	}
	if r.rules[string(key)] == nil {
		r.rules[string(key)] = r.rule(distinct)
	}
	return &ref{r.rules[string(key)]}
}

// rule returns a new rule, whose body is set later.
func (r *reader) rule(all []*tree) *rule {
	r.meter.spend(2, ruleSize)
	made := &rule{source: r.source}
	r.made = append(r.made, made)
	r.pending = append(r.pending, pendingRule{made, all})
	return made
}

func (r *reader) body(all []*tree) (Node, error) {
	if len(r.made) > maxRules {
		return nil, r.tooLarge()
	}
	r.meter.spend(1, 2*shapeBytes)
	shapes := []shape{{types: anyType}}
	for _, t := range all {
		var err error
		if shapes, err = r.apply(shapes, t, nil); err != nil {
			return nil, err
		}
	}
	r.meter.spend(len(shapes), 64*len(shapes))
	nodes := make([]Node, 0, len(shapes))
	for i := range shapes {
		n, err := r.shape(&shapes[i])
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, n)
	}
	return Choice(nodes...), nil
}

// maxIssues limits the reported issues of a schema.
const maxIssues = 1000

func (r *reader) issue(t *tree, keyword string) {
	if len(r.issues) == maxIssues {
		return
	}
	r.meter.spend(4, 8*maxPointer)
	i := Issue{t.pointer(), keyword}
	if !r.reported[i] {
		r.reported[i] = true
		r.issues = append(r.issues, i)
	}
}

// tooLarge is the error of a schema that exceeds the budget, at the current part.
func (r *reader) tooLarge() error {
	e := &SchemaError{Reason: "The schema is too large or too complex to enforce.", cause: ErrTooLarge}
	if r.current != nil {
		e.Pointer = r.current.pointer()
	}
	return e
}
