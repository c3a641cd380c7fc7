//go:build llamacpp && cgo

package llamacpp

// #include <stdlib.h>
// #include "shim.h"
import "C"

import (
	"time"
	"unsafe"

	"github.com/diglot/diglot/engine/local/decode"
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
func (b *glanceBatch) fill(g decode.ImageBatch) {
	copy(unsafe.Slice((*float32)(unsafe.Pointer(b.embedding)), len(g.Embedding)), g.Embedding)
	positions := unsafe.Slice((*int32)(unsafe.Pointer(b.positions)), g.Cells*positionsPerCell)
	for i := range g.Cells {
		cell := g.First + i
		if g.Columns == 0 {
			positions[i] = int32(g.Position + cell)
			continue
		}
		positions[i] = int32(g.Position)
		positions[i+g.Cells] = int32(g.Position + cell/g.Columns)
		positions[i+2*g.Cells] = int32(g.Position + cell%g.Columns)
		positions[i+3*g.Cells] = 0
	}
}

func (s *session) Encode(v decode.ImagePart) ([]float32, decode.Outcome, error) {
	s.turn.Lock()
	defer s.turn.Unlock()
	return s.projector.encode(v, s.governor.threads(time.Now()))
}

func (s *session) DecodeImage(g decode.ImageBatch) decode.Outcome {
	s.glances.fill(g)
	batch := s.batch
	batch.token, batch.embd, batch.pos = nil, s.glances.embedding, s.glances.positions
	batch.n_tokens = C.int32_t(g.Cells)
	counts := unsafe.Slice(batch.n_seq_id, g.Cells)
	sequences := unsafe.Slice(batch.seq_id, g.Cells)
	logits := unsafe.Slice(batch.logits, g.Cells)
	for i := range g.Cells {
		counts[i] = 1
		*sequences[i] = C.llama_seq_id(g.Sequence)
		logits[i] = 0
	}
	if g.Logits {
		logits[g.Cells-1] = 1
	}
	if g.Whole {
		C.llama_set_causal_attn(s.ctx, false)
		defer C.llama_set_causal_attn(s.ctx, true)
	}
	return s.compute(batch, true)
}
