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

// Go templates only make text, by functions and by methods of their data. Both
// charge the Meter first, as in Jinja.

// guardMade is the function that charges for methods. It precedes each action that
// calls some.
const guardMade = "diglotMade"

// checkWrites is how many writes there are between two checks of the memory and of
// the stack: a template may recurse.
const checkWrites = 64

// manyWrites is how many writes make a rendering a large one.
const manyWrites = 512

// goRendering is the state of one execution.
type goRendering struct {
	*bounds.Meter
	given int64 // printed size of the data, in bytes
}

// goFunctions are the functions of templates: Ollama's, and the built-in ones that
// make text. r is nil at parse time.
func goFunctions(now func() time.Time, r *goRendering) template.FuncMap {
	date := func(days int) func(...string) string {
		return func(...string) string { return now().AddDate(0, 0, days).Format(time.DateOnly) }
	}
	return template.FuncMap{
		"currentDate":   date(0),
		"yesterdayDate": date(-1),
		"json": func(v any) (string, error) {
			if err := r.Charge(bounds.Times(r.goSize(v), 6)); err != nil {
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
			if err := r.Charge(bounds.FormatSize(format, word, len(args))); err != nil {
				return "", err
			}
			return fmt.Sprintf(format, args...), nil
		},
		"toTypeScriptType": func(v any) (string, error) {
			property, ok := v.(api.ToolProperty)
			if !ok {
				return "any", nil
			}
			return property.ToTypeScriptType(), r.Charge(bounds.Times(r.given, 8))
		},
		guardMade: func(methods int) (string, error) {
			return "", r.Charge(bounds.Times(bounds.Times(r.given, 8), int64(methods)))
		},
	}
}

// text wraps a function whose result is at most factor times as long as its
// arguments.
func (r *goRendering) text(factor int64, f func(...any) string) func(...any) (string, error) {
	return func(args ...any) (string, error) {
		sum := int64(0)
		for _, arg := range args {
			sum = bounds.Add(sum, r.goSize(arg), 1)
		}
		if err := r.Charge(bounds.Times(sum, factor)); err != nil {
			return "", err
		}
		return f(args...), nil
	}
}

// goSize is an upper bound of the printed size of a value: that of all data,
// unless it is a scalar.
func (r *goRendering) goSize(v any) int64 {
	switch v := v.(type) {
	case string:
		return int64(len(v))
	case bool, int, float64, nil:
		return 32
	}
	return r.given
}

// goSize is an upper bound of a value's size as JSON. The data is a tree.
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
		if m, ok := addressed(v).(*api.ToolPropertiesMap); ok { // a linked list inside
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

// addressed is a pointer to v, or nil.
func addressed(v reflect.Value) any {
	if !v.CanAddr() || !v.CanInterface() {
		return nil
	}
	return v.Addr().Interface()
}

// countMethods inserts a call of guardMade before each node whose pipeline calls
// methods.
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

// pipeOf is the pipeline of a node, or nil.
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

// usesOf counts the methods that a pipeline calls.
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
