package grammar

// findProductive finds the rules that a finite text can satisfy, for rules
// that need themselves do not: an object with a required property of the
// object's own type. Rules start as unproductive, and passes repeat until
// none changes.
func (c *compiler) findProductive(root Node) {
	var rules []*rule
	seen := map[*rule]bool{}
	visited := map[Node]bool{}
	var visit func(Node)
	visit = func(n Node) {
		if n == nil || visited[n] {
			return
		}
		visited[n] = true
		switch n := n.(type) {
		case *seq:
			for _, part := range n.nodes {
				visit(part)
			}
		case *choice:
			for _, part := range n.nodes {
				visit(part)
			}
		case *repeat:
			visit(n.body)
		case *ref:
			if !seen[n.rule] {
				seen[n.rule] = true
				rules = append(rules, n.rule)
			}
		}
	}
	visit(root)
	for i := 0; i < len(rules); i++ {
		visit(rules[i].body)
	}
	for changed := true; changed; {
		changed = false
		pass := map[Node]bool{}
		// The last found are the deepest, and do not depend on the first.
		for i := len(rules) - 1; i >= 0; i-- {
			if r := rules[i]; !c.productive[r] && c.canEnd(r.body, pass) {
				c.productive[r] = true
				changed = true
			}
		}
	}
}

// canEnd reports whether a finite text satisfies n, as far as known. pass
// holds the answers of this pass.
func (c *compiler) canEnd(n Node, pass map[Node]bool) bool {
	if known, ok := pass[n]; ok {
		return known
	}
	yes := true
	switch n := n.(type) {
	case nil:
		return false
	case *class:
		yes = len(n.ranges) > 0
	case *seq:
		for _, part := range n.nodes {
			yes = yes && c.canEnd(part, pass)
		}
	case *choice:
		yes = false
		for _, part := range n.nodes {
			yes = yes || c.canEnd(part, pass)
		}
	case *repeat:
		yes = (n.max < 0 || n.max >= n.min) && (n.min <= 0 || c.canEnd(n.body, pass))
	case *ref:
		return c.productive[n.rule]
	}
	pass[n] = yes
	return yes
}
