package decode

// cells tracks the cells of the KV cache, because llama.cpp does not report
// how many are free. A cell is reference-counted by the sequences that share
// its token. The indexes are our own: which cell llama.cpp really uses does
// not matter.
type cells struct {
	refs []int32
	free []int32
	seen []bool // scratch space of distinct
}

func newCells(n int) *cells {
	c := &cells{refs: make([]int32, n), free: make([]int32, n), seen: make([]bool, n)}
	for i := range c.free {
		c.free[i] = int32(n - 1 - i)
	}
	return c
}

func (c *cells) total() int     { return len(c.refs) }
func (c *cells) available() int { return len(c.free) }

// allocate appends n cells to held. At least n must be free.
func (c *cells) allocate(held []int32, n int) []int32 {
	cut := len(c.free) - n
	for _, cell := range c.free[cut:] {
		c.refs[cell] = 1
		held = append(held, cell)
	}
	c.free = c.free[:cut]
	return held
}

// share adds a reference to each of the cells.
func (c *cells) share(held []int32) []int32 {
	for _, cell := range held {
		c.refs[cell]++
	}
	return append([]int32(nil), held...)
}

// release drops the references to held[keep:].
func (c *cells) release(held []int32, keep int) []int32 {
	for _, cell := range held[keep:] {
		if c.refs[cell]--; c.refs[cell] == 0 {
			c.free = append(c.free, cell)
		}
	}
	return held[:keep]
}

// distinct counts the cells that all hold, shared ones once.
func distinct[T any](c *cells, all []T, held func(T) []int32) int {
	n := 0
	for _, one := range all {
		for _, cell := range held(one) {
			if !c.seen[cell] {
				c.seen[cell] = true
				n++
			}
		}
	}
	clear(c.seen)
	return n
}

// unshared counts the cells that only their sequence has.
func (c *cells) unshared(held []int32) int {
	n := 0
	for _, cell := range held {
		if c.refs[cell] == 1 {
			n++
		}
	}
	return n
}
