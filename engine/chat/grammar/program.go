package grammar

type opcode uint8

const (
	opFail  opcode = iota // dead end; only instruction 0
	opByte                // a byte of set x, then y
	opSplit               // x or y
	opCall                // rule x, then y
	opRet                 // the end of a rule
	opEnter               // the start of the counted loop whose opLoop is at x
	opLoop                // the end of an iteration of counted loop x
	opMatch               // the end of the text
	opFork                // any of forks[x:y]
	opTable               // a byte of class k, then rows[x+k]
)

type instr struct {
	op   opcode
	x, y int32
}

// loop is a counted loop: its body and continuation.
type loop struct {
	turn, next int32
	min, max   int32 // turns; max < 0: no upper bound
}

const (
	pcFail int32 = iota // the instructions that every program begins with
	pcMatch
	pcRet
)

// What the parts of a program take.
const (
	instrBytes = 12
	setBytes   = 32
	loopBytes  = 16
)

// emit returns the index of an instruction, which is new or an equal one.
func (c *compiler) emit(in instr) int32 {
	slot := c.known.at(in.hash())
	for c.known.slots[slot] != 0 {
		if pc := c.known.slots[slot]; c.prog[pc] == in {
			return pc
		}
		slot = c.known.next(slot)
	}
	c.known.reserve(c.meter)
	pc := c.reserve()
	c.prog[pc] = in
	c.known.put(slot, pc, func(pc int32) uint64 { return c.prog[pc].hash() })
	return pc
}

func (in instr) hash() uint64 { return mix(mix(0, in.x, in.y), int32(in.op), 0) }

// reserve allocates an instruction that is written later.
func (c *compiler) reserve() int32 {
	if len(c.prog) >= MaxInstructions {
		panic(halt{ErrTooLarge}) // settle makes an error of it
	}
	c.work++
	c.meter.spend(1, 0)
	c.prog = append(grown(c.meter, c.prog, instrBytes), instr{})
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
		n = c.newSet(set)
		c.meter.spend(0, 2*setBytes+doneBytes)
		c.setNumber[set] = n
	}
	return c.emit(instr{op: opByte, x: n, y: next})
}

func (c *compiler) newSet(set byteSet) int32 {
	c.sets = append(grown(c.meter, c.sets, setBytes), set)
	return int32(len(c.sets) - 1)
}

// byte matches one byte, the most common case.
func (c *compiler) byte(b byte, next int32) int32 {
	if c.single[b] == 0 {
		var set byteSet
		set.add(b)
		n, ok := c.setNumber[set]
		if !ok {
			n = c.newSet(set)
			c.setNumber[set] = n
		}
		c.single[b] = n + 1
	}
	return c.emit(instr{op: opByte, x: c.single[b] - 1, y: next})
}
