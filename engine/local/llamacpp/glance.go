//go:build llamacpp && cgo

package llamacpp

// #include <stdlib.h>
// #include "shim.h"
import "C"

import (
	"time"
	"unsafe"
)

// glanceBatch is the part of a llama.cpp batch that cells of images need and
// tokens do not. It is memory of C: the worker reads it while Go waits.
type glanceBatch struct {
	embedding *C.float
	positions *C.llama_pos
}

// positionsPerCell is what llama.cpp wants of cells whose positions have
// dimensions: all cells' places in time, then in height, in width, and in one
// that is not used.
const positionsPerCell = 4

// newGlanceBatch makes room for so many rows of so many numbers.
func newGlanceBatch(rows, width int) *glanceBatch {
	return &glanceBatch{
		embedding: (*C.float)(C.calloc(C.size_t(rows*width), C.sizeof_float)),
		positions: (*C.llama_pos)(C.calloc(C.size_t(rows*positionsPerCell), C.sizeof_llama_pos)),
	}
}

func (b *glanceBatch) free() {
	C.free(unsafe.Pointer(b.embedding))
	C.free(unsafe.Pointer(b.positions))
}

// fill writes what g says.
func (b *glanceBatch) fill(g glance) {
	copy(unsafe.Slice((*float32)(unsafe.Pointer(b.embedding)), len(g.embedding)), g.embedding)
	positions := unsafe.Slice((*int32)(unsafe.Pointer(b.positions)), g.cells*positionsPerCell)
	for i := range g.cells {
		cell := g.first + i
		if g.columns == 0 {
			positions[i] = int32(g.position + cell)
			continue
		}
		positions[i] = int32(g.position)
		positions[i+g.cells] = int32(g.position + cell/g.columns)
		positions[i+2*g.cells] = int32(g.position + cell%g.columns)
		positions[i+3*g.cells] = 0
	}
}

func (s *session) Encode(v ImagePart) ([]float32, decoded, error) {
	s.turn.Lock()
	defer s.turn.Unlock()
	return s.projector.encode(v, s.governor.threads(time.Now()))
}

func (s *session) DecodeImage(g glance) decoded {
	s.glances.fill(g)
	batch := s.batch
	batch.token, batch.embd, batch.pos = nil, s.glances.embedding, s.glances.positions
	batch.n_tokens = C.int32_t(g.cells)
	counts := unsafe.Slice(batch.n_seq_id, g.cells)
	sequences := unsafe.Slice(batch.seq_id, g.cells)
	logits := unsafe.Slice(batch.logits, g.cells)
	for i := range g.cells {
		counts[i] = 1
		*sequences[i] = C.llama_seq_id(g.sequence)
		logits[i] = 0
	}
	if g.logits {
		logits[g.cells-1] = 1
	}
	if g.whole {
		C.llama_set_causal_attn(s.ctx, false)
		defer C.llama_set_causal_attn(s.ctx, true)
	}
	return s.compute(batch, true)
}
