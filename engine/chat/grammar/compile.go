package grammar

import (
	"context"
	"errors"
)

// MaxInstructions limits the size of a grammar, at 12 bytes each. Agents with many tools
// need some ten thousand.
const MaxInstructions = 200_000

// ErrImpossible is the error of [Compile] for an expression that allows no text.
var ErrImpossible = errors.New("grammar: no text is allowed")

// CostError is a [ErrTooLarge] of [Compile].
type CostError struct {
	Most Node // the result of [Schema] for the most expensive schema; nil: none stands out
}

func (e *CostError) Error() string { return ErrTooLarge.Error() }

func (e *CostError) Unwrap() error { return ErrTooLarge }

// Grammar is a compiled expression. It is immutable and safe for concurrent
// use.
type Grammar struct {
	prog    []instr
	sets    []byteSet
	loops   []loop
	entries []int32 // entry points of rules
	start   int32
	class   [256]uint8 // equivalence class of each byte under sets
	member  []byte     // one byte of each class
	forks   []int32    // targets of opFork
	rows    []int32    // targets of opTable by byte class
}

// Size is the approximate memory of the grammar in bytes.
func (g *Grammar) Size() int {
	return instrBytes*cap(g.prog) + setBytes*cap(g.sets) + loopBytes*cap(g.loops) + 4*(cap(g.entries)+cap(g.forks)+cap(g.rows)) + 1024
}

// Compile compiles an expression, on the budget of ctx. Errors are [CostError],
// [ErrImpossible] if it allows no finite text, or that of ctx.
func Compile(ctx context.Context, root Node) (g *Grammar, err error) {
	m := newMeter(ctx)
	c := newCompiler(m)
	defer func() {
		if errors.Is(err, ErrTooLarge) {
			g, err = nil, &CostError{c.mostExpensive()}
		}
	}()
	defer m.settle(&err)
	return c.compile(root)
}

// compile may be called once.
func (c *compiler) compile(root Node) (*Grammar, error) {
	start := c.node(root, pcMatch, false)
	for i := 0; i < len(c.rules); i++ { // grows while rules call new rules
		c.entries = append(c.entries, c.node(c.rules[i].body, pcRet, false))
		c.charge(c.rules[i].source)
	}
	if start == pcFail {
		return nil, ErrImpossible
	}
	g := &Grammar{prog: c.prog, sets: c.sets, loops: c.loops, entries: c.entries, start: start}
	c.meter.spend(10*len(g.sets), 0)
	g.class, g.member = classesOf(g.sets)
	g.flatten(c.meter)
	return g, nil
}

// charge adds the work since the last charge to a schema's cost.
func (c *compiler) charge(s *source) {
	c.cost[s] += c.work - c.charged
	c.charged = c.work
}

// mostExpensive is the schema with the highest cost; nil if other expressions cost more.
func (c *compiler) mostExpensive() Node {
	if at := len(c.entries); at < len(c.rules) {
		c.charge(c.rules[at].source) // where it ended
	}
	var most *source
	for s, cost := range c.cost {
		if cost > c.cost[most] || cost == c.cost[most] && most == nil {
			most = s
		}
	}
	if most == nil {
		return nil
	}
	return most.root
}

// compiler builds a program backwards: each node is compiled with its continuation. Equal
// nodes with the same continuation are compiled once, which keeps shared parts, such as
// the properties after optional ones, linear in size.
type compiler struct {
	meter   *meter
	prog    []instr
	sets    []byteSet
	loops   []loop
	entries []int32
	rules   []*rule
	depth   int // of the recursion
	deepest int

	work, charged int // nodes and instructions
	cost          map[*source]int

	known      index // of prog: instructions by their content
	single     [256]int32
	setNumber  map[byteSet]int32
	ruleNumber map[*rule]int32
	done       map[task]int32
	nullables  map[Node]bool
	analysis   *analysis         // of rules that are not settled
	firsts     map[int32]byteSet // of class, kept between calls
	order      []int32           // the same
	widest     int               // the most that were in them
}

// task is a node, its continuation and whether the empty text is excluded.
type task struct {
	node     Node
	next     int32
	nonEmpty bool
}

func newCompiler(m *meter) *compiler {
	m.spend(4, compilerBytes)
	c := &compiler{
		meter:      m,
		prog:       []instr{pcFail: {op: opFail}, pcMatch: {op: opMatch}, pcRet: {op: opRet}},
		cost:       map[*source]int{},
		ruleNumber: map[*rule]int32{},
		setNumber:  map[byteSet]int32{},
		done:       map[task]int32{},
		nullables:  map[Node]bool{},
		firsts:     map[int32]byteSet{},
	}
	c.known.reset()
	return c
}

// Memory per entry of the compiler's tables.
const (
	compilerBytes = 8 << 10 // empty

	doneBytes  = 100
	ruleBytes  = 100
	firstBytes = 200
	depthBytes = 1000 // of the stack, for each level
)
