package tokenizer

import "context"

// Byte pair encoding and SentencePiece both begin with the smallest symbols of
// a piece of text and join two neighbors at a time, the best two first. What
// the best two are differs.

// atom is one symbol: a run of bytes of the piece. One that was joined to the one
// before it is empty.
type atom struct {
	start, end int32
	prev, next int32 // of the list of those that are left; -1: none
	id         int32 // what the join knows it by
}

// joined is what two neighbors make: how early it is done (0 before all), and
// the symbol's id.
type joined struct {
	rank uint32
	id   int32
}

// noRank is the rank of two that do not join.
const noRank = ^uint32(0)

// candidate is a pair that can be joined, unless it has changed meanwhile.
type candidate struct {
	order uint64 // its rank, then its place
	right int32
	size  int32 // bytes of both
	id    int32
}

// merger joins the symbols of one piece. Its memory is used again for the next.
type merger struct {
	symbols []atom
	heap    []candidate
}

// reset begins a new piece.
func (m *merger) reset() {
	m.symbols, m.heap = m.symbols[:0], m.heap[:0]
}

// push adds the next symbol of the piece.
func (m *merger) push(end int, id int32) {
	n := int32(len(m.symbols))
	s := atom{end: int32(end), prev: n - 1, next: -1, id: id}
	if n > 0 {
		m.symbols[n-1].next = n
		s.start = m.symbols[n-1].end
	}
	m.symbols = append(m.symbols, s)
}

// checkEvery is how many joins pass between two looks at the context: some
// milliseconds.
const checkEvery = 1 << 14

// run joins until nothing is left to join. join tells what two symbols make.
func (m *merger) run(ctx context.Context, join func(left, right *atom) joined) error {
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

// apply joins a pair that has not changed since it was found: one that is
// joined to something else has another size.
func (m *merger) apply(c candidate, join func(left, right *atom) joined) {
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

func (m *merger) candidate(left, right int32, join func(left, right *atom) joined) (candidate, bool) {
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
