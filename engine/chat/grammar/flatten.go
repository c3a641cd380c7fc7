package grammar

// flatten optimizes a program: a tree of splits becomes a list of its leaves, and leaves
// that read disjoint bytes become a jump table by byte class. The inside of a JSON
// string, eleven byte sets, is then one thread.
func (g *Grammar) flatten(m *meter) {
	m.spend(len(g.prog)/32, 32*len(g.prog)) // for seen and the lists
	f := flattener{g: g, meter: m, seen: make([]int32, len(g.prog)+1)}
	visit := func(pc int32) {
		if g.prog[pc].op == opSplit {
			f.head(pc)
		}
	}
	visit(g.start)
	for _, pc := range g.entries {
		visit(pc)
	}
	for i := range len(g.prog) { // appended instructions are flat already
		switch in := g.prog[i]; in.op {
		case opByte, opCall:
			visit(in.y)
		case opLoop:
			visit(g.loops[in.x].turn)
			visit(g.loops[in.x].next)
		}
	}
}

const (
	// fewEnds is the number of leaves below which splits are as fast.
	fewEnds = 3
	// maxFlat limits what flatten adds, and maxFlatSteps its work; further splits stay.
	maxFlat      = 2 * MaxInstructions
	maxFlatSteps = 5 * MaxInstructions
)

type flattener struct {
	g     *Grammar
	meter *meter
	steps int
	seen  []int32 // by instruction: the last head that visited it
	ends  []int32
	todo  []int32
	reads []int32
	rest  []int32
}

func (f *flattener) spend(steps, bytes int) {
	f.steps += steps
	f.meter.spend(steps, bytes)
}

// head rewrites the split at pc, the root of a tree.
func (f *flattener) head(pc int32) {
	if len(f.g.forks)+len(f.g.rows) > maxFlat || f.steps > maxFlatSteps {
		return
	}
	f.ends = f.ends[:0]
	f.collect(pc, pc)
	if len(f.ends) < fewEnds {
		return
	}
	f.spend(len(f.ends)/8, 0)
	table, rest := f.reads[:0], f.rest[:0]
	var taken byteSet
	for _, end := range f.ends {
		in := &f.g.prog[end]
		if in.op == opByte && !taken.meets(f.g.sets[in.x]) {
			taken.join(f.g.sets[in.x])
			table = append(table, end)
		} else {
			rest = append(rest, end)
		}
	}
	f.reads, f.rest = table, rest // for the next head
	if len(table) < fewEnds {
		table, rest = nil, append(rest[:0], f.ends...)
	}
	if len(rest) == 0 {
		f.g.prog[pc] = f.table(table)
		return
	}
	if table != nil {
		f.g.prog = append(grown(f.meter, f.g.prog, instrBytes), f.table(table))
		rest = append(rest, int32(len(f.g.prog)-1))
	}
	from := int32(len(f.g.forks))
	for _, end := range rest {
		f.g.forks = append(grown(f.meter, f.g.forks, 4), end)
	}
	f.g.prog[pc] = instr{op: opFork, x: from, y: int32(len(f.g.forks))}
}

// collect appends the leaves of the splits at pc. A rewritten head is a list of leaves.
func (f *flattener) collect(pc, head int32) {
	f.todo = append(f.todo[:0], pc)
	for len(f.todo) > 0 {
		pc := f.todo[len(f.todo)-1]
		f.todo = f.todo[:len(f.todo)-1]
		f.spend(1, 0)
		if int(pc) < len(f.seen) {
			if f.seen[pc] == head {
				continue
			}
			f.seen[pc] = head
		}
		switch in := f.g.prog[pc]; in.op {
		case opSplit:
			f.todo = append(f.todo, in.y, in.x)
		case opFork:
			f.todo = append(f.todo, f.g.forks[in.x:in.y]...)
		default:
			f.ends = append(f.ends, pc)
		}
	}
}

// table replaces instructions that read disjoint bytes.
func (f *flattener) table(ends []int32) instr {
	width := len(f.g.member)
	f.spend(len(ends)*width/64, 0)
	row := len(f.g.rows)
	for range width {
		f.g.rows = append(grown(f.meter, f.g.rows, 4), pcFail)
	}
	for _, end := range ends {
		in := f.g.prog[end]
		for class, b := range f.g.member {
			if f.g.sets[in.x].has(b) {
				f.g.rows[row+class] = in.y
			}
		}
	}
	return instr{op: opTable, x: int32(row)}
}

func (s *byteSet) meets(o byteSet) bool {
	return s[0]&o[0]|s[1]&o[1]|s[2]&o[2]|s[3]&o[3] != 0
}

func (s *byteSet) join(o byteSet) {
	for i := range s {
		s[i] |= o[i]
	}
}
