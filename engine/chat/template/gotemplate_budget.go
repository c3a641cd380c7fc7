package template

import (
	"fmt"
	"reflect"
	"text/template"
	"text/template/parse"
	"time"

	"github.com/diglot/diglot/engine/chat/template/bounds"
	"github.com/ollama/ollama/api"
)

// Go templates build no lists and no objects: what they make is text, by
// functions and by methods of what they are given. Both ask before they make
// it, in the same budget as those of Jinja.

// guardMade is the function that asks for what methods make. It stands before
// each action that uses some.
const guardMade = "diglotMade"

// lookWrites is how many pieces are written between two looks at the memory,
// which are also looks at the stack: a template may call itself.
const lookWrites = 64

// manyWrites is how many pieces are written by a rendering that may take much
// memory.
const manyWrites = 512

// goRendering is the state of one run of a Go template.
type goRendering struct {
	*bounds.Meter
	given int64 // bytes of what the template is given, written out
}

// goFunctions are what a template may call: the library's and those of the
// language that make text, with our clock. r is nil for a template that is only
// parsed.
func goFunctions(now func() time.Time, r *goRendering) template.FuncMap {
	date := func(days int) func(...string) string {
		return func(...string) string { return now().AddDate(0, 0, days).Format(time.DateOnly) }
	}
	return template.FuncMap{
		"currentDate":   date(0),
		"yesterdayDate": date(-1),
		"json": func(v any) (string, error) {
			if err := r.Grow(bounds.Times(r.goSize(v), 6)); err != nil {
				return "", err
			}
			return goJSON(v)
		},
		"print":    r.text(2, fmt.Sprint),
		"println":  r.text(2, fmt.Sprintln),
		"html":     r.text(6, template.HTMLEscaper),
		"js":       r.text(7, template.JSEscaper),
		"urlquery": r.text(4, template.URLQueryEscaper),
		"printf": func(format string, args ...any) (string, error) {
			word := int64(0)
			for _, arg := range args {
				word = max(word, r.goSize(arg))
			}
			if err := r.Grow(bounds.FormatSize(format, word, len(args))); err != nil {
				return "", err
			}
			return fmt.Sprintf(format, args...), nil
		},
		"toTypeScriptType": func(v any) (string, error) {
			property, ok := v.(api.ToolProperty)
			if !ok {
				return "any", nil
			}
			return property.ToTypeScriptType(), r.Grow(bounds.Times(r.given, 8))
		},
		guardMade: func(methods int) (string, error) {
			return "", r.Grow(bounds.Times(bounds.Times(r.given, 8), int64(methods)))
		},
	}
}

// text is a function that makes a text which is some times as long as what it
// is given.
func (r *goRendering) text(factor int64, f func(...any) string) func(...any) (string, error) {
	return func(args ...any) (string, error) {
		sum := int64(0)
		for _, arg := range args {
			sum = bounds.Add(sum, r.goSize(arg), 1)
		}
		if err := r.Grow(bounds.Times(sum, factor)); err != nil {
			return "", err
		}
		return f(args...), nil
	}
}

// goSize is how long a value is when it is written out. What is no text is a
// part of what the template was given.
func (r *goRendering) goSize(v any) int64 {
	switch v := v.(type) {
	case string:
		return int64(len(v))
	case bool, int, float64, nil:
		return 32
	}
	return r.given
}

// goSize is how long a value is, written as JSON: the data of a template is a
// tree.
func goSize(v reflect.Value) int64 {
	const name = 64 // of a field, with what is around it
	switch v.Kind() {
	case reflect.String:
		return bounds.Add(bounds.Times(int64(v.Len()), 2), name)
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return goSize(v.Elem())
		}
	case reflect.Slice, reflect.Array:
		sum := int64(name)
		for i := range v.Len() {
			sum = bounds.Add(sum, goSize(v.Index(i)))
		}
		return sum
	case reflect.Map:
		sum := int64(name)
		for entries := v.MapRange(); entries.Next(); {
			sum = bounds.Add(sum, goSize(entries.Key()), goSize(entries.Value()))
		}
		return sum
	case reflect.Struct:
		sum := int64(name)
		if m, ok := addressed(v).(*api.ToolPropertiesMap); ok { // no tree inside: a ring
			for key, property := range m.All() {
				sum = bounds.Add(sum, goSize(reflect.ValueOf(key)), goSize(reflect.ValueOf(property)))
			}
			return sum
		}
		for i := range v.NumField() {
			sum = bounds.Add(sum, goSize(v.Field(i)))
		}
		return sum
	}
	return name
}

// addressed is a pointer to v, where there can be one.
func addressed(v reflect.Value) any {
	if !v.CanAddr() || !v.CanInterface() {
		return nil
	}
	return v.Addr().Interface()
}

// countMethods puts a call of guardMade before each node below root whose
// pipeline uses methods.
func countMethods(root parse.Node, methods map[string]bool) {
	walkTemplate(root, func(n parse.Node) {
		list, ok := n.(*parse.ListNode)
		if !ok {
			return
		}
		var nodes []parse.Node
		for _, child := range list.Nodes {
			if n := usesOf(pipeOf(child), methods); n > 0 {
				nodes = append(nodes, madeNode(n))
			}
			nodes = append(nodes, child)
		}
		list.Nodes = nodes
	})
}

// madeNode is a call of guardMade.
func madeNode(methods int) parse.Node {
	text := fmt.Sprintf("{{ %s %d }}", guardMade, methods)
	parsed := template.Must(template.New("").Funcs(template.FuncMap{guardMade: fmt.Sprint}).Parse(text))
	return parsed.Root.Nodes[0]
}

// pipeOf is what a node evaluates itself; nil: nothing.
func pipeOf(n parse.Node) *parse.PipeNode {
	switch n := n.(type) {
	case *parse.ActionNode:
		return n.Pipe
	case *parse.TemplateNode:
		return n.Pipe
	case *parse.IfNode:
		return n.Pipe
	case *parse.RangeNode:
		return n.Pipe
	case *parse.WithNode:
		return n.Pipe
	}
	return nil
}

// usesOf counts the methods that a pipeline uses.
func usesOf(p *parse.PipeNode, methods map[string]bool) int {
	if p == nil {
		return 0
	}
	count := 0
	walkTemplate(p, func(n parse.Node) {
		for _, name := range fieldPath(n) {
			if methods[name] {
				count++
			}
		}
	})
	return count
}
