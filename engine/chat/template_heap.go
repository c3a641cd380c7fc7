package chat

import (
	"errors"
	"runtime/metrics"
)

// maxRenderHeap is how many bytes the heap may grow by while a template is
// rendered: a text that is put to itself in a loop doubles with each step, and
// would fill the memory long before it has run out of time. Prompts have at
// most an eighth of it.
const maxRenderHeap = 512 << 20

var errHeap = errors.New("the chat template takes too much memory")

// heapSize is how many bytes objects take on the heap, with those that nobody
// holds any more and that have not been collected yet.
func heapSize() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return sample[0].Value.Uint64()
}
