package tokenizer

// pairs is a hash table of merges by symbol ids. Lookups, several per byte of text, take
// half the time of a map's.
type pairs struct {
	keys   []uint64 // pair + 1; 0: free
	values []merged
	count  int
}

func newPairs(n int) *pairs {
	size := 16
	for size < 2*n {
		size *= 2
	}
	return &pairs{keys: make([]uint64, size), values: make([]merged, size)}
}

func pairKey(left, right int32) uint64 { return uint64(uint32(left))<<32 | uint64(uint32(right)) + 1 }

// slot is the index of a key, or where to insert it.
func (p *pairs) slot(key uint64) int {
	mask := len(p.keys) - 1
	hash := key * 0x9e3779b97f4a7c15
	i := int(hash>>32) & mask
	for p.keys[i] != 0 && p.keys[i] != key {
		i = (i + 1) & mask
	}
	return i
}

// add adds a pair unless it exists. It does not grow the table.
func (p *pairs) add(left, right int32, j merged) {
	key := pairKey(left, right)
	if i := p.slot(key); p.keys[i] == 0 {
		p.keys[i], p.values[i] = key, j
		p.count++
	}
}

// of looks up a pair; ids below 0 do not merge.
func (p *pairs) of(left, right int32) merged {
	if i := p.slot(pairKey(left, right)); p.keys[i] != 0 {
		return p.values[i]
	}
	return merged{rank: noRank}
}
