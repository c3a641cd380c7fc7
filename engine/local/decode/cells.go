package decode

// cells counts the cells of the key-value cache. llama.cpp does not say how
// many are free, so this keeps the same books: a cell belongs to every
// sequence that shares its token, and is free when the last one lets go.
// The numbers given out here stand for cells; which real one llama.cpp
// takes does not matter.
type cells struct {
	refs []int32
	free []int32
	mark []bool // scratch of distinct
}

func newCells(n int) *cells {
	c := &cells{refs: make([]int32, n), free: make([]int32, n), mark: make([]bool, n)}
	for i := range c.free {
		c.free[i] = int32(n - 1 - i)
	}
	return c
}

func (c *cells) total() int     { return len(c.refs) }
func (c *cells) available() int { return len(c.free) }

// take appends n cells to held. There must be that many free.
func (c *cells) take(held []int32, n int) []int32 {
	cut := len(c.free) - n
	for _, cell := range c.free[cut:] {
		c.refs[cell] = 1
		held = append(held, cell)
	}
	c.free = c.free[:cut]
	return held
}

// share makes another holder of the cells.
func (c *cells) share(held []int32) []int32 {
	for _, cell := range held {
		c.refs[cell]++
	}
	return append([]int32(nil), held...)
}

// release lets go of all but the first keep of the held cells.
func (c *cells) release(held []int32, keep int) []int32 {
	for _, cell := range held[keep:] {
		if c.refs[cell]--; c.refs[cell] == 0 {
			c.free = append(c.free, cell)
		}
	}
	return held[:keep]
}

// distinct counts the different cells that the sequences hold.
func (c *cells) distinct(seqs []*sequence) int {
	n := 0
	for _, s := range seqs {
		for _, cell := range s.cells {
			if !c.mark[cell] {
				c.mark[cell] = true
				n++
			}
		}
	}
	clear(c.mark)
	return n
}
