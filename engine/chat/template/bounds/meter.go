package bounds

import (
	"context"
	"runtime"
	"runtime/metrics"
)

const (
	// LookEvery is how many bytes a rendering may make between two looks at
	// the heap.
	LookEvery = 1 << 20

	// ownShare is the part of its limit that a rendering must have made itself
	// to be what the heap grew by.
	ownShare = 16

	// ownDepth is how deep a rendering is that may be what the stacks grew by.
	ownDepth = 16
)

// Meter counts what one rendering takes.
type Meter struct {
	ctx   context.Context
	start uint64 // size of the heap when it began
	limit int64  // bytes that may be added to it
	made  int64  // bytes since the heap was last looked at
	total int64  // bytes of what is counted before it is made
	depth int
	turns *turnstile
	alone bool // it has the slot of turns
}

// Limit is how many bytes the rendering may take.
func (m *Meter) Limit() int64 { return m.limit }

// Err says why the rendering is to end; nil: it may go on.
func (m *Meter) Err() error {
	if m.ctx.Err() != nil {
		return context.Cause(m.ctx)
	}
	return nil
}

// Enter goes down into a body that may lead to itself. It returns how deep the
// rendering is then.
func (m *Meter) Enter() (depth int, err error) {
	if m.depth++; m.depth > ownDepth {
		err = m.Begin()
	}
	return m.depth, err
}

// Leave comes up again.
func (m *Meter) Leave() { m.depth-- }

// Grow asks for bytes that are about to be made. What nobody holds any more
// is collected before it says no.
func (m *Meter) Grow(bytes int64) error {
	m.made = Add(m.made, bytes)
	m.total = Add(m.total, bytes)
	if m.made < LookEvery {
		return nil
	}
	m.made = 0
	if bytes > m.limit {
		return ErrHeap
	}
	if err := m.Begin(); err != nil {
		return err
	}
	return m.Look(bytes)
}

// Look says no where the heap has no room for bytes, or where the rendering is to
// end.
func (m *Meter) Look(bytes int64) error {
	if m.ctx.Err() != nil {
		return context.Cause(m.ctx)
	}
	most := m.start + uint64(m.limit)
	if HeapSize()+uint64(bytes) <= most {
		return nil
	}
	runtime.GC()
	if HeapSize()+uint64(bytes) <= most {
		return nil
	}
	if m.total < m.limit/ownShare && m.depth < ownDepth {
		return ErrCrowded
	}
	return ErrHeap
}

// Begin gives the rendering the slot for those that take much memory, once. What
// others have left behind is collected first: it is not what this one takes.
func (m *Meter) Begin() error {
	if m.alone {
		return nil
	}
	if err := m.turns.enter(m.ctx); err != nil {
		return err
	}
	m.alone = true
	if HeapSize() > uint64(m.limit)/8 {
		runtime.GC()
	}
	m.start = HeapSize()
	return nil
}

// end gives the slot back.
func (m *Meter) end() {
	if m.alone {
		m.alone = false
		<-m.turns.slot
	}
}

// HeapSize is how many bytes objects take on the heap, with those that nobody
// holds any more and that have not been collected yet, and the stacks of
// goroutines: a template may be deep instead of wide.
func HeapSize() uint64 {
	samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(samples)
	sum := uint64(0)
	for _, s := range samples {
		if s.Value.Kind() == metrics.KindUint64 {
			sum += s.Value.Uint64()
		}
	}
	return sum
}
