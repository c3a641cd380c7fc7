package grammar

import "slices"

// node compiles n with the continuation next. nonEmpty excludes the empty text. It
// returns pcFail if n allows no text.
func (c *compiler) node(n Node, next int32, nonEmpty bool) int32 {
	if next == pcFail {
		return pcFail
	}
	c.work++
	c.meter.spend(1, 0)
	t := task{n, next, nonEmpty}
	switch n := n.(type) { // faster without the cache
	case *literal:
		return c.literal(n.text, t)
	case *ref:
		if !nonEmpty || !n.rule.nullable {
			return c.call(n.rule, next)
		}
	}
	if pc, ok := c.done[t]; ok {
		return pc
	}
	c.deeper()
	pc := c.fresh(t)
	c.shallower()
	c.meter.spend(1, doneBytes)
	c.done[t] = pc
	return pc
}

// deeper counts the stack memory of recursion.
func (c *compiler) deeper() {
	if c.depth++; c.depth > c.deepest {
		c.deepest = c.depth
		c.meter.spend(0, depthBytes)
	}
}

func (c *compiler) shallower() { c.depth-- }

func (c *compiler) fresh(t task) int32 {
	switch n := t.node.(type) {
	case *class:
		return c.class(n.ranges, t.next)
	case *seq:
		return c.seq(n.nodes, t)
	case *choice:
		return c.choice(n.nodes, t)
	case *repeat:
		return c.repeat(n, t)
	case *until:
		return c.until(n.markers, t)
	case *except:
		return c.except(n.names, 0, t.next)
	case *ref: // to a nullable rule, without the empty text
		if c.dead(n.rule) {
			return pcFail
		}
		return c.node(n.rule.body, t.next, true)
	}
	return pcFail
}

func (c *compiler) literal(text string, t task) int32 {
	if text == "" && t.nonEmpty {
		return pcFail
	}
	pc := t.next
	for i := len(text) - 1; i >= 0; i-- {
		pc = c.byte(text[i], pc)
	}
	return pc
}

// class compiles one character as UTF-8 bytes.
func (c *compiler) class(ranges []runeRange, next int32) int32 {
	clear(c.firsts) // the first bytes that lead to each continuation
	c.order = c.order[:0]
	for _, r := range ranges {
		c.meter.spend(1, 0)
		r.encode(func(s byteSequence) {
			pc := next
			for i := s.n - 1; i > 0; i-- {
				var set byteSet
				set.addRange(s.bytes[i])
				pc = c.bytes(set, pc)
			}
			set, ok := c.firsts[pc]
			if !ok {
				if c.order = append(c.order, pc); len(c.order) > c.widest {
					c.widest = len(c.order)
					c.meter.spend(0, firstBytes)
				}
			}
			set.addRange(s.bytes[0])
			c.firsts[pc] = set
		})
	}
	// The first one found, mostly ASCII, comes last, so that classes that differ only
	// in ASCII characters share the rest.
	pc := pcFail
	for _, rest := range slices.Backward(c.order) {
		pc = c.split(c.bytes(c.firsts[rest], rest), pc)
	}
	return pc
}

func (c *compiler) seq(nodes []Node, t task) int32 {
	if !t.nonEmpty {
		pc := t.next
		for i := len(nodes) - 1; i >= 0; i-- {
			pc = c.node(nodes[i], pc, false)
		}
		return pc
	}
	// Non-empty: the first nodes are empty, one is not, and the rest is free.
	pc, rest := pcFail, t.next
	for i := len(nodes) - 1; i >= 0; i-- {
		here := c.node(nodes[i], rest, true)
		if c.nullable(nodes[i]) {
			pc = c.split(here, pc)
		} else {
			pc = here
		}
		rest = c.node(nodes[i], rest, false)
	}
	return pc
}

func (c *compiler) choice(nodes []Node, t task) int32 {
	if lits := c.literals(nodes); lits != nil {
		return c.trie(lits, t)
	}
	pc := pcFail
	for i := len(nodes) - 1; i >= 0; i-- {
		pc = c.split(c.node(nodes[i], t.next, t.nonEmpty), pc)
	}
	return pc
}

func (c *compiler) call(r *rule, next int32) int32 {
	if c.dead(r) {
		return pcFail
	}
	n, ok := c.ruleNumber[r]
	if !ok {
		c.meter.spend(1, ruleBytes)
		n = int32(len(c.rules))
		c.rules = append(c.rules, r)
		c.ruleNumber[r] = n
	}
	return c.emit(instr{op: opCall, x: n, y: next})
}

// dead reports whether a rule is unsatisfiable.
func (c *compiler) dead(r *rule) bool {
	if r.settled {
		return !r.satisfiable
	}
	return c.analysis == nil || !c.analysis.satisfiable(r)
}

// repeat compiles a repetition. The iterations of a nullable body are compiled as
// non-empty, with no lower bound: empty ones add no text, and would loop forever.
func (c *compiler) repeat(n *repeat, t task) int32 {
	lo, hi := n.min, n.max
	if lo < 0 {
		lo = 0
	}
	if hi >= 0 && hi < lo {
		return pcFail
	}
	nullable := lo == 0 || c.nullable(n.body)
	turnNonEmpty := t.nonEmpty || c.nullable(n.body)
	if turnNonEmpty && nullable {
		lo = 0
	}
	if t.nonEmpty {
		lo = max(lo, 1)
	}
	switch {
	case hi == 0 || hi > 0 && hi < lo:
		if t.nonEmpty {
			return pcFail
		}
		return t.next
	case hi == 1:
		turn := c.node(n.body, t.next, turnNonEmpty)
		if lo == 0 {
			return c.split(turn, t.next)
		}
		return turn
	case hi < 0 && lo <= 1:
		return c.star(n.body, lo, t.next, turnNonEmpty)
	}
	return c.counted(n.body, lo, hi, t.next, turnNonEmpty)
}

func (c *compiler) star(body Node, lo int, next int32, turnNonEmpty bool) int32 {
	again := c.reserve()
	turn := c.node(body, again, turnNonEmpty)
	if turn == pcFail {
		turn = next // the body allows no text
	}
	c.prog[again] = instr{op: opSplit, x: turn, y: next}
	switch {
	case turn == next && lo == 1:
		return pcFail
	case lo == 1:
		return turn
	}
	return again
}

func (c *compiler) counted(body Node, lo, hi int, next int32, turnNonEmpty bool) int32 {
	again := c.reserve()
	turn := c.node(body, again, turnNonEmpty)
	n := int32(len(c.loops))
	c.loops = append(grown(c.meter, c.loops, loopBytes), loop{turn: turn, next: next, min: clamp(lo), max: clamp(hi)})
	c.prog[again] = instr{op: opLoop, x: n}
	switch {
	case turn == pcFail && lo > 0:
		return pcFail
	case turn == pcFail:
		return next
	}
	return c.emit(instr{op: opEnter, x: again})
}

func clamp(n int) int32 { return int32(min(n, 1<<30)) }

// nullable reports whether n allows the empty text.
func (c *compiler) nullable(n Node) bool {
	switch n := n.(type) {
	case *literal:
		return n.text == ""
	case *class, *except:
		return false
	case *until:
		return true
	case *ref:
		return n.rule.nullable
	}
	if known, ok := c.nullables[n]; ok {
		return known
	}
	var yes bool
	switch n := n.(type) {
	case *seq:
		yes = true
		for _, part := range n.nodes {
			yes = yes && c.nullable(part)
		}
	case *choice:
		for _, part := range n.nodes {
			yes = yes || c.nullable(part)
		}
	case *repeat:
		yes = (n.min <= 0 || c.nullable(n.body)) && (n.max < 0 || n.max >= n.min)
	}
	c.meter.spend(1, doneBytes)
	c.nullables[n] = yes
	return yes
}
