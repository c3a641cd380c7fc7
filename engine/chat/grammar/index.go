package grammar

// index finds numbered things by their content, without copying it: a hash
// table whose slots hold numbers, 0 for none. Maps cost three times as much
// here, and this is where a matcher spends its time.
type index struct {
	slots []int32 // a power of two
	used  int
}

const firstSlots = 64

// reset empties the index.
func (x *index) reset() {
	x.used = 0
	if x.slots == nil {
		x.slots = make([]int32, firstSlots)
	}
	clear(x.slots)
}

// at returns the first slot to look into for a hash; the next ones are those
// behind it.
func (x *index) at(hash uint64) int { return int(hash>>32) & (len(x.slots) - 1) }

func (x *index) behind(slot int) int { return (slot + 1) & (len(x.slots) - 1) }

// room counts what the next put allocates.
func (x *index) room(m *meter) {
	if 2*(x.used+1) >= len(x.slots) {
		m.spend(len(x.slots)/64, 8*len(x.slots))
	}
}

// put fills an empty slot. hashOf returns the hash of a number, for moving
// to a larger table.
func (x *index) put(slot int, n int32, hashOf func(int32) uint64) {
	x.slots[slot] = n
	if x.used++; 2*x.used < len(x.slots) {
		return
	}
	old := x.slots
	x.slots = make([]int32, 2*len(old))
	for _, n := range old {
		if n == 0 {
			continue
		}
		slot := x.at(hashOf(n))
		for x.slots[slot] != 0 {
			slot = x.behind(slot)
		}
		x.slots[slot] = n
	}
}

// mix adds two numbers to a hash (multiplication by a large odd constant
// spreads them over the upper half, which at uses).
func mix(hash uint64, a, b int32) uint64 {
	hash ^= uint64(uint32(a))<<32 | uint64(uint32(b))
	hash *= 0x9E3779B97F4A7C15
	return hash ^ hash>>29
}
