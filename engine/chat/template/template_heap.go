package template

import (
	"errors"
	"runtime/metrics"
)

// maxRenderHeap is how many bytes the heap may grow by while a template is
// rendered: a text that is put to itself in a loop doubles with each step, and
// would fill the memory long before it has run out of time. Prompts have at
// most an eighth of it.
const maxRenderHeap = 512 << 20

var (
	errHeap    = errors.New("the chat template takes too much memory")
	errCrowded = errors.New("others took the memory while the chat template was rendered")
)

// heapSize is how many bytes objects take on the heap, with those that nobody
// holds any more and that have not been collected yet, and the stacks of
// goroutines: a template may be deep instead of wide.
func heapSize() uint64 {
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
