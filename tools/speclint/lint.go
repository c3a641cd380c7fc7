package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// finding is one error in a document.
type finding struct {
	line int
	text string
}

// linter walks the YAML nodes, which alone tell lines, order and the original text.
type linter struct {
	root     *yaml.Node
	found    []finding
	referred map[string]bool // targets of references

	errorNames []string // of errors and of other examples
}

// lint returns the findings in a document, by line.
func lint(text []byte) ([]finding, error) {
	var file yaml.Node
	if err := yaml.Unmarshal(text, &file); err != nil {
		return nil, err
	}
	if len(file.Content) == 0 {
		return nil, fmt.Errorf("is empty")
	}
	l := &linter{root: file.Content[0], referred: map[string]bool{}}
	l.extensions(l.root)
	for _, path := range members(get(l.root, "paths")) {
		for _, method := range members(path.value) {
			if get(method.value, "responses") != nil {
				l.operation(method.value)
			}
		}
	}
	l.components()
	slices.SortStableFunc(l.found, func(a, b finding) int {
		return cmp.Or(a.line-b.line, cmp.Compare(a.text, b.text))
	})
	return slices.Compact(l.found), nil
}

func (l *linter) add(at *yaml.Node, format string, args ...any) {
	l.found = append(l.found, finding{at.Line, fmt.Sprintf(format, args...)})
}

// known lists the extensions that this repository or the generator reads.
var known = []string{"x-support", "x-support-values", "x-bodies", "x-event-name", "x-event-sequence", "x-go-name", "x-go-type", "x-go-type-skip-optional-pointer",
	"x-enum-varnames", "x-order", "x-oapi-codegen-extra-tags"}

// extensions finds misspelt marks, which would be ignored silently, and collects the names
// of errors.
func (l *linter) extensions(n *yaml.Node) {
	for _, m := range members(n) {
		if strings.HasPrefix(m.name, "x-") && !slices.Contains(known, m.name) && m.value.Kind == yaml.MappingNode && isMark(m.value) {
			l.add(m.key, "extension %s is not known; is it x-support?", m.name)
		}
		if m.name == "examples" {
			for _, example := range members(m.value) {
				l.errorNames = append(l.errorNames, example.name)
			}
		}
		l.extensions(m.value)
	}
	if n.Kind == yaml.SequenceNode {
		for _, item := range n.Content {
			l.extensions(item)
		}
	}
}

func isMark(n *yaml.Node) bool { return get(n, "server") != nil || get(n, "document") != nil }

func (l *linter) operation(op *yaml.Node) {
	for _, name := range []string{"operationId", "summary", "description"} {
		if get(op, name) == nil {
			l.add(op, "operation without %s", name)
		}
	}
	l.mark(op)
	if list := get(op, "parameters"); list != nil {
		for _, p := range list.Content {
			l.parameter(p)
		}
	}
	l.content(l.follow(get(op, "requestBody")))
	fails := false
	for _, r := range members(get(op, "responses")) {
		if r.name == "default" {
			l.add(r.key, "default response: list the statuses, each with its body")
		}
		l.response(r.value)
		if r.name >= "400" {
			fails = true
			l.errors(r.key, l.follow(r.value))
		}
	}
	if !fails {
		l.add(op, "operation without errors")
	}
}

// errors checks that a response lists its errors as complete examples.
func (l *linter) errors(at, response *yaml.Node) {
	listed := 0
	for _, media := range members(get(response, "content")) {
		for _, example := range members(get(media.value, "examples")) {
			listed++
			if summary := get(example.value, "summary"); summary == nil || !strings.HasSuffix(summary.Value, ".") {
				l.add(example.key, "error %s: its summary is a sentence that says when it comes", example.name)
			}
			told := get(get(example.value, "value"), "error")
			for _, name := range []string{"type", "message"} {
				if value := get(told, name); value == nil || value.Value == "" {
					l.add(example.key, "error %s has no %s", example.name, name)
				}
			}
		}
	}
	if listed == 0 {
		l.add(at, "response without errors: each is an example, with a summary and a value")
	}
}

func (l *linter) parameter(p *yaml.Node) {
	p = l.follow(p)
	l.described(p, "parameter")
	l.mark(p)
	l.schema(get(p, "schema"), true)
}

func (l *linter) response(r *yaml.Node) {
	r = l.follow(r)
	l.described(r, "response")
	for _, h := range members(get(r, "headers")) {
		header := l.follow(h.value)
		l.described(header, "header "+h.name)
		l.schema(get(header, "schema"), true)
	}
	l.content(r)
}

// content checks the bodies of a request or response.
func (l *linter) content(of *yaml.Node) {
	for _, media := range members(get(of, "content")) {
		l.schema(get(media.value, "schema"), true)
		l.schema(get(media.value, "itemSchema"), true)
		switch {
		case media.name == "text/event-stream":
			l.stream(media)
		case get(media.value, "schema") == nil:
			l.add(media.key, "%s without schema", media.name)
		}
	}
}

func (l *linter) components() {
	all := get(l.root, "components")
	for _, s := range members(get(all, "schemas")) {
		l.described(s.value, "schema "+s.name)
		l.schema(s.value, false)
	}
	for _, kind := range members(all) {
		if kind.name == "securitySchemes" {
			continue
		}
		for _, c := range members(kind.value) {
			if !l.referred["#/components/"+kind.name+"/"+c.name] {
				l.add(c.key, "%s is never referred to", c.name)
			}
		}
	}
}

// described requires a description, here or at the target of the reference.
func (l *linter) described(n *yaml.Node, what string) {
	target := l.follow(n)
	lost := target == n && get(n, "$ref") != nil
	if get(n, "description") == nil && get(target, "description") == nil && !lost {
		l.add(n, "%s without description", what)
	}
}

// follow records a reference and returns its target, or the node itself.
func (l *linter) follow(n *yaml.Node) *yaml.Node {
	ref := get(n, "$ref")
	if ref == nil {
		return n
	}
	l.referred[ref.Value] = true
	target := l.root
	for name := range strings.SplitSeq(strings.TrimPrefix(ref.Value, "#/"), "/") {
		target = get(target, name)
	}
	if target == nil {
		l.add(ref, "reference %s cannot be resolved", ref.Value)
		return n
	}
	return target
}

// resolve returns what a YAML alias stands for, or the node itself.
func resolve(n *yaml.Node) *yaml.Node {
	if n != nil && n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// member is a name and its value in a mapping.
type member struct {
	name       string
	key, value *yaml.Node
}

// members lists the members of a mapping; anything else has none.
func members(n *yaml.Node) []member {
	n = resolve(n)
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	list := make([]member, 0, len(n.Content)/2)
	for i := 0; i < len(n.Content); i += 2 {
		list = append(list, member{n.Content[i].Value, n.Content[i], resolve(n.Content[i+1])})
	}
	return list
}

// get returns the value of a member, or nil.
func get(n *yaml.Node, name string) *yaml.Node {
	for _, m := range members(n) {
		if m.name == name {
			return m.value
		}
	}
	return nil
}
