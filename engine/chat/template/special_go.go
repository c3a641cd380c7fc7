package template

import (
	"slices"
	"text/template/parse"

	"github.com/diglot/diglot/engine/chat/template/control"
)

// ownTexts replaces the control tokens in the texts of a Go template, whose nodes
// walk visits.
func ownTexts(s *control.Tokens, walk func(visit func(parse.Node))) {
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
			n.Text = []byte(s.Own(string(n.Text), control.Printed))
		case *parse.StringNode:
			use := control.Printed
			if compares[n] {
				use = control.Compared
			}
			n.Text = s.Own(n.Text, use)
		}
	})
}
