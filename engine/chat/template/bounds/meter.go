package bounds

import (
	"context"
	"runtime"
	"runtime/metrics"
)

const (
	// CheckEvery is how many bytes a rendering may allocate between two checks of
	// the heap.
	CheckEvery = 1 << 20

	// A rendering is blamed for the growth of the heap if it has allocated this
	// fraction of its limit, or of the stacks if it is this deep.
	ownShare = 16
	ownDepth = 16
)

// Meter counts the memory and depth of one rendering.
type Meter struct {
	ctx       context.Context
	start     uint64 // heap size at the start
	limit     int64  // bytes that may be added
	unchecked int64  // bytes charged since the last check of the heap
	total     int64  // bytes charged
	depth     int
	turns     *semaphore
	exclusive bool // holds the slot of turns
}

// Limit is how many bytes the rendering may add to the heap.
func (m *Meter) Limit() int64 { return m.limit }

// Err returns why the rendering must end, or nil.
func (m *Meter) Err() error {
	if m.ctx.Err() != nil {
		return context.Cause(m.ctx)
	}
	return nil
}

// Enter begins a body that may recurse, and returns the depth.
func (m *Meter) Enter() (depth int, err error) {
	if m.depth++; m.depth > ownDepth {
		err = m.Begin()
	}
	return m.depth, err
}

// Leave ends such a body.
func (m *Meter) Leave() { m.depth-- }

// Charge counts bytes that are about to be allocated. It runs the garbage collector
// before it refuses.
func (m *Meter) Charge(bytes int64) error {
	m.unchecked = Add(m.unchecked, bytes)
	m.total = Add(m.total, bytes)
	if m.unchecked < CheckEvery {
		return nil
	}
	m.unchecked = 0
	if bytes > m.limit {
		return ErrMemory
	}
	if err := m.Begin(); err != nil {
		return err
	}
	return m.Check(bytes)
}

// Check checks that the heap has room for bytes and that the rendering may go on.
func (m *Meter) Check(bytes int64) error {
	if err := m.Err(); err != nil {
		return err
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
		return ErrBusy
	}
	return ErrMemory
}

// Begin acquires the slot of large renderings, once. It collects the garbage of
// others first, so that this one is not charged for it.
func (m *Meter) Begin() error {
	if m.exclusive {
		return nil
	}
	if err := m.turns.acquire(m.ctx); err != nil {
		return err
	}
	m.exclusive = true
	if HeapSize() > uint64(m.limit)/8 {
		runtime.GC()
	}
	m.start = HeapSize()
	return nil
}

// end releases the slot.
func (m *Meter) end() {
	if m.exclusive {
		m.exclusive = false
		<-m.turns.slot
	}
}

// HeapSize is the size of the heap, garbage included, and of all stacks: a
// template may take memory by recursion too.
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
