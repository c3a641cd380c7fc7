package grammar

// flatten makes a program faster to run and changes nothing else: a tree of
// splits becomes one list of the instructions at its ends, and those ends
// that wait for different bytes become one table from byte class to
// instruction. The inside of a JSON string, eleven byte sets, is then one
// thread.
func (g *Grammar) flatten() {
	f := flattener{g: g, seen: make([]int32, len(g.prog)+1)}
	visit := func(pc int32) {
		if g.prog[pc].op == opSplit {
			f.head(pc)
		}
	}
	visit(g.start)
	for _, pc := range g.entries {
		visit(pc)
	}
	for i := range len(g.prog) { // what is appended has been flattened
		switch in := g.prog[i]; in.op {
		case opByte, opCall:
			visit(in.y)
		case opLoop:
			visit(in.x)
			visit(in.y)
		}
	}
}

const (
	// fewEnds is the number of ends below which splits are as fast.
	fewEnds = 3
	// maxFlat bounds what flatten adds to a program; past it splits stay.
	maxFlat = 4 * MaxInstructions
)

type flattener struct {
	g    *Grammar
	seen []int32 // by instruction: the head that met it last
	ends []int32
}

// head rewrites the split at pc, which something else than a split leads to.
func (f *flattener) head(pc int32) {
	if len(f.g.forks)+len(f.g.rows) > maxFlat {
		return
	}
	f.ends = f.ends[:0]
	f.collect(pc, pc)
	if len(f.ends) < fewEnds {
		return
	}
	var table, rest []int32
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
	if len(table) < fewEnds {
		table, rest = nil, f.ends
	}
	if len(rest) == 0 {
		f.g.prog[pc] = f.table(table)
		return
	}
	from := int32(len(f.g.forks))
	f.g.forks = append(f.g.forks, rest...)
	if table != nil {
		f.g.forks = append(f.g.forks, int32(len(f.g.prog)))
		f.g.prog = append(f.g.prog, f.table(table))
	}
	f.g.prog[pc] = instr{op: opFork, x: from, y: int32(len(f.g.forks))}
}

// collect appends the ends of the splits at pc. A head that is rewritten
// already is a list of ends itself.
func (f *flattener) collect(pc, head int32) {
	for todo := []int32{pc}; len(todo) > 0; {
		pc := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if int(pc) < len(f.seen) {
			if f.seen[pc] == head {
				continue
			}
			f.seen[pc] = head
		}
		switch in := f.g.prog[pc]; in.op {
		case opSplit:
			todo = append(todo, in.y, in.x)
		case opFork:
			todo = append(todo, f.g.forks[in.x:in.y]...)
		default:
			f.ends = append(f.ends, pc)
		}
	}
}

// table is one instruction for several that read bytes, no byte in two.
func (f *flattener) table(ends []int32) instr {
	row := int32(len(f.g.rows))
	for _, b := range f.g.member {
		to := pcFail
		for _, end := range ends {
			if in := f.g.prog[end]; f.g.sets[in.x].has(b) {
				to = in.y
			}
		}
		f.g.rows = append(f.g.rows, to)
	}
	return instr{op: opTable, x: row}
}

func (s *byteSet) meets(o byteSet) bool {
	return s[0]&o[0]|s[1]&o[1]|s[2]&o[2]|s[3]&o[3] != 0
}

func (s *byteSet) join(o byteSet) {
	for i := range s {
		s[i] |= o[i]
	}
}
