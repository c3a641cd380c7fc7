package template

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"text/template"
	"text/template/parse"
	"time"

	ollama "github.com/ollama/ollama/template"

	"github.com/diglot/diglot/engine/chat/template/bounds"
	"github.com/diglot/diglot/engine/chat/template/control"
	"github.com/diglot/diglot/internal/plainjson"
)

// A template of the other kind is Go's own text/template, as Ollama's
// definition files have it: either one exchange (.System, .Prompt, .Response)
// that is repeated for a conversation, or all of it (.Messages, .Tools). The
// library knows the language; execution is ours, because the library collects
// exchanges in memory that nothing bounds, sorts the members of a client's
// JSON and leaves out the keywords of a schema that it has no field for.

// goTemplate is such a template, compiled.
type goTemplate struct {
	compiled *template.Template
	now      func() time.Time
	whole    bool // it shows a conversation, not one exchange
	infills  bool // it knows of a gap
	apart    bool // it shows either the text of a turn or its calls
	// Whether what a template does with these is print them: then they can be
	// the text that they came as. A map, which it may look into, is sorted.
	printsArguments, printsProperties bool
}

// repeats reports whether the template is one exchange, which a system turn in
// the middle of a conversation would break in two.
func (t *Template) repeats() bool { return t.golang != nil && !t.golang.whole }

// goAction is an action of a Go template that reads a field of its data,
// which all have capitals there.
var goAction = regexp.MustCompile(`\{\{[^}]*[\s({$]\.[A-Z]|\{\{\.[A-Z]`)

// jinjaStatement begins with a word, which a percent sign in the text of a Go
// template is hardly followed by.
var jinjaStatement = regexp.MustCompile(`\{%[-+]?\s*[a-z]+[\s%-]`)

// isGoTemplate tells the two languages of templates apart by their syntax:
// Jinja has statements in {% %} and names without a dot in front.
func isGoTemplate(source string) bool {
	return !jinjaStatement.MatchString(source) && goAction.MatchString(source)
}

// compileGo makes a Template of Go source, about which nothing is known yet.
func compileGo(source string, model Model, now func() time.Time) (*Template, error) {
	parsed, err := parseGo(source)
	if err != nil {
		return nil, fmt.Errorf("compile the chat template, which is a Go template: %w", err)
	}
	fields, err := parsed.Vars()
	if err != nil {
		return nil, fmt.Errorf("read the chat template, which is a Go template: %w", err)
	}
	g := &goTemplate{
		compiled: parsed.Template.Funcs(goFunctions(now, nil)),
		now:      now,
		whole:    slices.Contains(fields, "messages"),
		infills:  slices.Contains(fields, "suffix"),
	}
	methods := goMethods()
	arguments, properties := fieldUse{name: "Arguments"}, fieldUse{name: "Properties"}
	special := control.NewTokens(model.Control)
	ownTexts(special, g.walk)
	special.Finish(false)
	for _, part := range g.compiled.Templates() {
		if part.Tree == nil || part.Root == nil {
			continue
		}
		walkTemplate(part.Root, func(n parse.Node) {
			arguments.add(n)
			properties.add(n)
		})
		countMethods(part.Root, methods)
		guardTemplate(part.Root)
	}
	g.printsArguments, g.printsProperties = arguments.onlyPrinted(), properties.onlyPrinted()
	return &Template{
		model:   model,
		golang:  g,
		special: special,
		now:     now,
		bounds:  bounds.New(),
	}, nil
}

// maxActions bounds how deep actions may be inside each other. What the
// library does with a tree takes time by the square of its depth.
const maxActions = 200

// goBlock is an action that others may be inside of, or the end of one.
var goBlock = regexp.MustCompile(`\{\{-?\s*(if|range|with|block|define|else\s+(?:if|with)|end)\b`)

// nestsDeeply reports whether a source has actions too deep inside each other.
func nestsDeeply(source string) bool {
	depth := 0
	var open []int // how many levels each end closes
	for _, block := range goBlock.FindAllStringSubmatch(source, -1) {
		switch last := len(open) - 1; {
		case block[1] == "end" && last < 0:
		case block[1] == "end":
			depth -= open[last]
			open = open[:last]
		case strings.HasPrefix(block[1], "else") && last >= 0: // one inside the other, with one end for both
			open[last]++
			depth++
		default:
			open = append(open, 1)
			depth++
		}
		if depth > maxActions {
			return true
		}
	}
	return false
}

// parseGo parses a source. The library looks into the tree, in ways that a
// strange one is too much for.
func parseGo(source string) (parsed *ollama.Template, err error) {
	if nestsDeeply(source) {
		return nil, fmt.Errorf("actions are more than %d deep inside each other", maxActions)
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the parser panicked: %v", p)
		}
	}()
	return ollama.Parse(strings.ReplaceAll(source, "\r\n", "\n"))
}

// walk visits all nodes of the template.
func (g *goTemplate) walk(visit func(parse.Node)) {
	for _, part := range g.compiled.Templates() {
		if part.Tree != nil && part.Root != nil {
			walkTemplate(part.Root, visit)
		}
	}
}

// guardTemplate puts an empty text in front of each body that may run often.
// Writing it asks the writer, which knows when there was enough.
func guardTemplate(root *parse.ListNode) {
	guard := func(list *parse.ListNode) {
		list.Nodes = append([]parse.Node{&parse.TextNode{NodeType: parse.NodeText}}, list.Nodes...)
	}
	var bodies []*parse.ListNode
	walkTemplate(root, func(n parse.Node) {
		if loop, ok := n.(*parse.RangeNode); ok && loop.List != nil {
			bodies = append(bodies, loop.List)
		}
	})
	for _, body := range append(bodies, root) {
		guard(body)
	}
}

// walkTemplate visits n and all below it.
func walkTemplate(n parse.Node, visit func(parse.Node)) {
	visit(n)
	branch := func(b *parse.BranchNode) {
		walkTemplate(b.Pipe, visit)
		for _, list := range []*parse.ListNode{b.List, b.ElseList} {
			if list != nil {
				walkTemplate(list, visit)
			}
		}
	}
	switch n := n.(type) {
	case *parse.ListNode:
		for _, child := range n.Nodes {
			walkTemplate(child, visit)
		}
	case *parse.ActionNode:
		walkTemplate(n.Pipe, visit)
	case *parse.PipeNode:
		for _, c := range n.Cmds {
			walkTemplate(c, visit)
		}
	case *parse.CommandNode:
		for _, arg := range n.Args {
			walkTemplate(arg, visit)
		}
	case *parse.ChainNode:
		walkTemplate(n.Node, visit)
	case *parse.TemplateNode:
		if n.Pipe != nil {
			walkTemplate(n.Pipe, visit)
		}
	case *parse.IfNode:
		branch(&n.BranchNode)
	case *parse.RangeNode:
		branch(&n.BranchNode)
	case *parse.WithNode:
		branch(&n.BranchNode)
	}
}

// fieldUse counts how often a template reads a field, and how often it does
// so only to print it.
type fieldUse struct {
	name          string
	read, printed int
}

func (u *fieldUse) add(n parse.Node) {
	switch n := n.(type) {
	case *parse.ActionNode:
		if len(n.Pipe.Decl) == 0 && u.shown(n.Pipe) {
			u.printed++
		}
	default:
		if slices.Contains(fieldPath(n), u.name) {
			u.read++
		}
	}
}

// shown reports whether a pipeline is the field, or the field as JSON.
func (u *fieldUse) shown(p *parse.PipeNode) bool {
	var args []parse.Node
	for _, c := range p.Cmds {
		args = append(args, c.Args...)
	}
	args = slices.DeleteFunc(args, func(n parse.Node) bool {
		name, ok := n.(*parse.IdentifierNode)
		return ok && name.Ident == "json"
	})
	if len(args) != 1 {
		return false
	}
	path := fieldPath(args[0])
	return len(path) > 0 && path[len(path)-1] == u.name
}

// fieldPath is what a node reads, from the outside in.
func fieldPath(n parse.Node) []string {
	switch n := n.(type) {
	case *parse.FieldNode:
		return n.Ident
	case *parse.VariableNode:
		return n.Ident
	case *parse.ChainNode:
		return n.Field
	}
	return nil
}

func (u *fieldUse) onlyPrinted() bool { return u.read == u.printed }

// goJSON writes a value as models know JSON: without the escapes that are for
// pages of HTML.
func goJSON(v any) (string, error) {
	if text, ok := v.(jsonText); ok {
		return string(text), nil
	}
	b, err := plainjson.Marshal(v)
	return string(b), err
}
