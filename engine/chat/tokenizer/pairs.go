package tokenizer

// pairs is what each two symbols make, by their ids: a hash table that is
// filled once. A map would take twice the time of a lookup, of which there are
// several for each byte of text.
type pairs struct {
	keys   []uint64 // 1 + the pair; 0: free
	values []joined
	count  int
}

func newPairs(n int) *pairs {
	size := 16
	for size < 2*n {
		size *= 2
	}
	return &pairs{keys: make([]uint64, size), values: make([]joined, size)}
}

func pairKey(left, right int32) uint64 { return uint64(uint32(left))<<32 | uint64(uint32(right)) + 1 }

// slot is where a key is, or would be.
func (p *pairs) slot(key uint64) int {
	mask := len(p.keys) - 1
	hash := key * 0x9e3779b97f4a7c15
	i := int(hash>>32) & mask
	for p.keys[i] != 0 && p.keys[i] != key {
		i = (i + 1) & mask
	}
	return i
}

// add notes a pair, unless it is known. There is room for as many as the table
// was made for.
func (p *pairs) add(left, right int32, j joined) {
	key := pairKey(left, right)
	if i := p.slot(key); p.keys[i] == 0 {
		p.keys[i], p.values[i] = key, j
		p.count++
	}
}

// of is what two symbols make; ids below 0 make nothing.
func (p *pairs) of(left, right int32) joined {
	if i := p.slot(pairKey(left, right)); p.keys[i] != 0 {
		return p.values[i]
	}
	return joined{rank: noRank}
}
