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

// imageBatch is what a llama.cpp batch of image embeddings has in place of
// tokens. It is C memory, as the worker thread reads it.
type imageBatch struct {
	embedding *C.float
	positions *C.llama_pos
}

// mropeDimensions is how many positions llama.cpp wants for a cell with M-RoPE:
// time, height, width and an unused one.
const mropeDimensions = 4

// newImageBatch allocates rows embeddings of length width.
func newImageBatch(rows, width int) *imageBatch {
	return &imageBatch{
		embedding: (*C.float)(C.calloc(C.size_t(rows*width), C.sizeof_float)),
		positions: (*C.llama_pos)(C.calloc(C.size_t(rows*mropeDimensions), C.sizeof_llama_pos)),
	}
}

func (b *imageBatch) free() {
	C.free(unsafe.Pointer(b.embedding))
	C.free(unsafe.Pointer(b.positions))
}

func (b *imageBatch) fill(g decode.ImageBatch) {
	copy(unsafe.Slice((*float32)(unsafe.Pointer(b.embedding)), len(g.Embeddings)), g.Embeddings)
	positions := unsafe.Slice((*int32)(unsafe.Pointer(b.positions)), g.Cells*mropeDimensions)
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

func (s *session) Encode(v decode.ImageInput) ([]float32, decode.Outcome, error) {
	s.turn.Lock()
	defer s.turn.Unlock()
	defer func() { s.governor.end(time.Now()) }()
	return s.projector.encode(v, s.governor.begin(time.Now()))
}

func (s *session) DecodeImage(g decode.ImageBatch) decode.Outcome {
	s.imageBatch.fill(g)
	batch := s.batch
	batch.token, batch.embd, batch.pos = nil, s.imageBatch.embedding, s.imageBatch.positions
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
	if g.NonCausal {
		C.llama_set_causal_attn(s.ctx, false)
		defer C.llama_set_causal_attn(s.ctx, true)
	}
	return s.compute(batch, true, nil)
}
