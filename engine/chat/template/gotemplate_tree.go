package template

import (
	"regexp"
	"slices"
	"strings"
	"text/template/parse"

	"github.com/diglot/diglot/engine/chat/template/control"
)

// maxActions limits the nesting of actions: Ollama's package takes time quadratic
// in it.
const maxActions = 200

// goBlock is an action with a body, or the end of one.
var goBlock = regexp.MustCompile(`\{\{-?\s*(if|range|with|block|define|else\s+(?:if|with)|end)\b`)

// nestsDeeply reports whether actions nest deeper than maxActions.
func nestsDeeply(source string) bool {
	depth := 0
	var open []int // how many levels each end closes
	for _, block := range goBlock.FindAllStringSubmatch(source, -1) {
		switch last := len(open) - 1; {
		case block[1] == "end" && last < 0:
		case block[1] == "end":
			depth -= open[last]
			open = open[:last]
		case strings.HasPrefix(block[1], "else") && last >= 0: // nested, with one end for both
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

// guardTemplate inserts an empty text at the start of each loop body and of root:
// writing it makes the writer check the limits.
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

// fieldUse counts the reads of a field, and those that only print it.
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

// fieldPath is the path of fields that a node reads.
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

// encodeTexts replaces the special tokens in the literals of a Go template by
// placeholders. walk visits its nodes.
func encodeTexts(s *control.Tokens, walk func(visit func(parse.Node))) {
	if s.Empty() {
		return
	}
	compares := map[*parse.StringNode]bool{}
	walk(func(n parse.Node) {
		command, ok := n.(*parse.CommandNode)
		if !ok {
			return
		}
		name, ok := command.Args[0].(*parse.IdentifierNode)
		if !ok {
			return
		}
		if name.Ident == "slice" {
			s.CutsAnywhere()
		}
		if !slices.Contains([]string{"eq", "ne", "lt", "le", "gt", "ge", "index"}, name.Ident) {
			return
		}
		for _, arg := range command.Args[1:] {
			if text, ok := arg.(*parse.StringNode); ok {
				compares[text] = true
			}
		}
	})
	walk(func(n parse.Node) {
		switch n := n.(type) {
		case *parse.TextNode:
			n.Text = []byte(s.EncodeSpecial(string(n.Text), control.Printed))
		case *parse.StringNode:
			use := control.Printed
			if compares[n] {
				use = control.Compared
			}
			n.Text = s.EncodeSpecial(n.Text, use)
		}
	})
}
