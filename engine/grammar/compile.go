package grammar

import (
	"errors"
	"fmt"
)

// MaxInstructions is the most that a grammar may compile to. An instruction
// takes 20 bytes; the schemas of agents with many tools need some thousand.
const MaxInstructions = 200_000

// Errors of [Compile].
var (
	ErrTooLarge   = fmt.Errorf("grammar: more than %d instructions", MaxInstructions)
	ErrImpossible = errors.New("grammar: no text is allowed")
)

// Grammar is a compiled expression. It is immutable and safe for concurrent
// use.
type Grammar struct {
	prog    []instr
	sets    []byteSet
	entries []int32 // of the rules, by number
	start   int32
	class   [256]uint8 // bytes that no set tells apart are one class
	member  []byte     // one byte of each class
	forks   []int32    // lists of instructions, of opFork
	rows    []int32    // lists of instructions by byte class, of opTable
}

type opcode uint8

const (
	opFail  opcode = iota // no way on; instruction 0 and no other
	opByte                // a byte of set x, then y
	opSplit               // x or y
	opCall                // rule x, then y
	opRet                 // the end of a rule
	opEnter               // the start of the counted loop at x
	opLoop                // the end of one turn of a counted loop: again at x, or on at y
	opMatch               // the end of the text
	opFork                // any of forks[x:y]
	opTable               // a byte of class k, then rows[x+k]
)

type instr struct {
	op       opcode
	x, y     int32
	min, max int32 // turns of a counted loop; max < 0: no upper bound
}

const (
	pcFail int32 = iota // the instructions that every program begins with
	pcMatch
	pcRet
	pcFirst
)

// Compile prepares an expression for matching. It fails with [ErrTooLarge],
// or with [ErrImpossible] where the expression allows no finite text.
func Compile(root Node) (*Grammar, error) {
	c := newCompiler()
	c.findProductive(root)
	start := c.node(root, pcMatch, false)
	for i := 0; i < len(c.rules); i++ { // grows while rules call new rules
		c.entries = append(c.entries, c.node(c.rules[i].body, pcRet, false))
	}
	if c.steps > maxSteps || len(c.prog) > MaxInstructions {
		return nil, ErrTooLarge
	}
	if start == pcFail {
		return nil, ErrImpossible
	}
	g := &Grammar{prog: c.prog, sets: c.sets, entries: c.entries, start: start}
	g.class, g.member = classesOf(g.sets)
	g.flatten()
	return g, nil
}

// maxSteps bounds the work of the compiler where nodes produce no
// instructions.
const maxSteps = 10 * MaxInstructions

// compiler builds a program from the end of the text to its start: each node
// is compiled knowing what follows it. Equal nodes with the same
// continuation are compiled once, which keeps expressions that share parts
// (the properties of an object after each subset of the optional ones)
// linear in size.
type compiler struct {
	prog    []instr
	sets    []byteSet
	entries []int32
	rules   []*rule
	steps   int

	ruleNumber map[*rule]int32
	setNumber  map[byteSet]int32
	known      map[instr]int32
	done       map[task]int32
	nullables  map[Node]bool
	productive map[*rule]bool
}

// task is a node, what follows it, and whether it must not be empty.
type task struct {
	node     Node
	next     int32
	nonEmpty bool
}

func newCompiler() *compiler {
	return &compiler{
		prog:       []instr{pcFail: {op: opFail}, pcMatch: {op: opMatch}, pcRet: {op: opRet}},
		ruleNumber: map[*rule]int32{},
		setNumber:  map[byteSet]int32{},
		known:      map[instr]int32{},
		done:       map[task]int32{},
		nullables:  map[Node]bool{},
		productive: map[*rule]bool{},
	}
}

// emit returns the place of an instruction, new or known.
func (c *compiler) emit(in instr) int32 {
	if pc, ok := c.known[in]; ok {
		return pc
	}
	pc := c.reserve()
	c.prog[pc] = in
	c.known[in] = pc
	return pc
}

// reserve makes room for an instruction that must be referred to before it
// can be written. Past the limit it keeps returning the same place: Compile
// fails at the end.
func (c *compiler) reserve() int32 {
	if len(c.prog) > MaxInstructions {
		return pcFirst
	}
	c.prog = append(c.prog, instr{})
	return int32(len(c.prog) - 1)
}

func (c *compiler) split(a, b int32) int32 {
	switch {
	case a == pcFail || a == b:
		return b
	case b == pcFail:
		return a
	}
	return c.emit(instr{op: opSplit, x: a, y: b})
}

func (c *compiler) bytes(set byteSet, next int32) int32 {
	n, ok := c.setNumber[set]
	if !ok {
		n = int32(len(c.sets))
		c.sets = append(c.sets, set)
		c.setNumber[set] = n
	}
	return c.emit(instr{op: opByte, x: n, y: next})
}

// node compiles n followed by the instruction at next. With nonEmpty the
// empty text is left out of n. The result is pcFail where there is no way
// through.
func (c *compiler) node(n Node, next int32, nonEmpty bool) int32 {
	if next == pcFail {
		return pcFail
	}
	t := task{n, next, nonEmpty}
	if pc, ok := c.done[t]; ok {
		return pc
	}
	if c.steps++; c.steps > maxSteps || len(c.prog) > MaxInstructions {
		return pcFirst
	}
	pc := c.fresh(t)
	c.done[t] = pc
	return pc
}

func (c *compiler) fresh(t task) int32 {
	switch n := t.node.(type) {
	case *literal:
		return c.literal(n.text, t)
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
	case *ref:
		return c.ref(n.rule, t)
	}
	return pcFail
}

func (c *compiler) literal(text string, t task) int32 {
	if text == "" && t.nonEmpty {
		return pcFail
	}
	pc := t.next
	for i := len(text) - 1; i >= 0; i-- {
		var set byteSet
		set.add(text[i])
		pc = c.bytes(set, pc)
	}
	return pc
}

// class compiles one character as the bytes of its encoding.
func (c *compiler) class(ranges []runeRange, next int32) int32 {
	var order []int32            // continuations, as found
	first := map[int32]byteSet{} // the first bytes that lead to each
	for _, r := range ranges {
		r.encode(func(list []byteRange) {
			pc := next
			for i := len(list) - 1; i > 0; i-- {
				var set byteSet
				set.addRange(list[i])
				pc = c.bytes(set, pc)
			}
			set, ok := first[pc]
			if !ok {
				order = append(order, pc)
			}
			set.addRange(list[0])
			first[pc] = set
		})
	}
	pc := pcFail
	for _, rest := range order {
		pc = c.split(c.bytes(first[rest], rest), pc)
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
	// Not empty: the first nodes are, one is not, the rest is anything.
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
	if lits := literals(nodes); len(lits) > 1 {
		return c.trie(lits, t)
	}
	pc := pcFail
	for i := len(nodes) - 1; i >= 0; i-- {
		pc = c.split(c.node(nodes[i], t.next, t.nonEmpty), pc)
	}
	return pc
}

func (c *compiler) ref(r *rule, t task) int32 {
	if !c.productive[r] {
		return pcFail
	}
	if t.nonEmpty && r.nullable {
		return c.node(r.body, t.next, true)
	}
	n, ok := c.ruleNumber[r]
	if !ok {
		n = int32(len(c.rules))
		c.rules = append(c.rules, r)
		c.ruleNumber[r] = n
	}
	return c.emit(instr{op: opCall, x: n, y: t.next})
}

// repeat compiles a repetition. The turns of a body that may be empty are
// compiled as not empty, with no lower bound: an empty turn adds no text,
// and a loop that could turn without reading would never be done.
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
		turn = next // nothing to repeat; again is only reached through turn
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
	c.prog[again] = instr{op: opLoop, x: turn, y: next, min: clamp(lo), max: clamp(hi)}
	switch {
	case turn == pcFail && lo > 0:
		return pcFail
	case turn == pcFail:
		return next
	}
	return c.emit(instr{op: opEnter, x: again})
}

func clamp(n int) int32 { return int32(min(n, 1<<30)) }

// nullable reports whether the empty text is among the texts of n.
func (c *compiler) nullable(n Node) bool {
	if known, ok := c.nullables[n]; ok {
		return known
	}
	var yes bool
	switch n := n.(type) {
	case *literal:
		yes = n.text == ""
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
	case *until:
		yes = true
	case *ref:
		yes = n.rule.nullable
	}
	c.nullables[n] = yes
	return yes
}
