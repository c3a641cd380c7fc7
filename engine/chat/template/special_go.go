package template

import (
	"slices"
	"text/template/parse"
)

// readGo replaces the control tokens in the texts of a Go template. visit walks
// its nodes.
func (s *specials) readGo(walk func(visit func(parse.Node))) {
	if s.spellings.Len() == 0 {
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
		s.slices = s.slices || name.Ident == "slice"
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
			n.Text = []byte(s.own(string(n.Text), printed))
		case *parse.StringNode:
			use := printed
			if compares[n] {
				use = compared
			}
			n.Text = s.own(n.Text, use)
		}
	})
}
