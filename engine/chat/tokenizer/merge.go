package tokenizer

import "context"

// BPE and SentencePiece start with the smallest symbols of a piece and merge adjacent
// pairs, best first. They differ in the rank of a pair.

// mergeSymbol is a range of bytes. It is empty after it was merged into the one before.
type mergeSymbol struct {
	start, end int32
	prev, next int32 // linked list of remaining symbols; -1: none
	id         int32
}

// merged is the result of a merge: its rank, lowest first, and the new symbol.
type merged struct {
	rank uint32
	id   int32
}

// noRank: the pair does not merge.
const noRank = ^uint32(0)

// candidate is a pair to merge. It is stale if one of its symbols was merged.
type candidate struct {
	order uint64 // rank, then position
	right int32
	size  int32 // bytes of both
	id    int32
}

// merger merges the symbols of a piece. Its memory is reused.
type merger struct {
	symbols []mergeSymbol
	heap    []candidate
}

func (m *merger) reset() {
	m.symbols, m.heap = m.symbols[:0], m.heap[:0]
}

// push appends a symbol.
func (m *merger) push(end int, id int32) {
	n := int32(len(m.symbols))
	s := mergeSymbol{end: int32(end), prev: n - 1, next: -1, id: id}
	if n > 0 {
		m.symbols[n-1].next = n
		s.start = m.symbols[n-1].end
	}
	m.symbols = append(m.symbols, s)
}

// checkEvery is how many merges, some milliseconds, pass between checks of the context.
const checkEvery = 1 << 14

// run merges until no pair is left. join looks up a pair.
func (m *merger) run(ctx context.Context, join func(left, right *mergeSymbol) merged) error {
	for i := 1; i < len(m.symbols); i++ {
		if c, ok := m.candidate(int32(i-1), int32(i), join); ok {
			m.heap = append(m.heap, c)
		}
	}
	for i := len(m.heap)/2 - 1; i >= 0; i-- {
		m.sink(i)
	}
	for steps := 1; len(m.heap) > 0; steps++ {
		if steps%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		m.apply(m.pop(), join)
	}
	return nil
}

// apply merges a pair unless it is stale: then its size has changed.
func (m *merger) apply(c candidate, join func(left, right *mergeSymbol) merged) {
	at := int32(c.order & 0xffffffff)
	left, right := &m.symbols[at], &m.symbols[c.right]
	if left.start == left.end || right.start == right.end || right.end-left.start != c.size {
		return
	}
	left.end, left.id = right.end, c.id
	right.start = right.end
	left.next = right.next
	if right.next >= 0 {
		m.symbols[right.next].prev = at
	}
	if left.prev >= 0 {
		if c, ok := m.candidate(left.prev, at, join); ok {
			m.add(c)
		}
	}
	if left.next >= 0 {
		if c, ok := m.candidate(at, left.next, join); ok {
			m.add(c)
		}
	}
}

func (m *merger) candidate(left, right int32, join func(left, right *mergeSymbol) merged) (candidate, bool) {
	l, r := &m.symbols[left], &m.symbols[right]
	j := join(l, r)
	if j.rank == noRank {
		return candidate{}, false
	}
	return candidate{order: uint64(j.rank)<<32 | uint64(left), right: right, size: r.end - l.start, id: j.id}, true
}

func (m *merger) add(c candidate) {
	m.heap = append(m.heap, c)
	for i := len(m.heap) - 1; i > 0; {
		parent := (i - 1) / 2
		if m.heap[parent].order <= m.heap[i].order {
			return
		}
		m.heap[parent], m.heap[i] = m.heap[i], m.heap[parent]
		i = parent
	}
}

func (m *merger) pop() candidate {
	top := m.heap[0]
	last := len(m.heap) - 1
	m.heap[0] = m.heap[last]
	m.heap = m.heap[:last]
	m.sink(0)
	return top
}

func (m *merger) sink(i int) {
	for {
		child := 2*i + 1
		if child >= len(m.heap) {
			return
		}
		if child+1 < len(m.heap) && m.heap[child+1].order < m.heap[child].order {
			child++
		}
		if m.heap[i].order <= m.heap[child].order {
			return
		}
		m.heap[i], m.heap[child] = m.heap[child], m.heap[i]
		i = child
	}
}
