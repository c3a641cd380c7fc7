//go:build llamacpp && cgo

package llamacpp

// #include <stdlib.h>
// #include "projector.h"
import "C"

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sync/semaphore"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/local/decode"
	_ "github.com/diglot/diglot/engine/local/llamacpp/mtmd" // what projector.cpp calls
	"github.com/diglot/diglot/engine/picture"
)

// projector is a loaded mmproj file.
type projector struct {
	ctx        *C.struct_mtmd_context
	width      int  // length of an embedding
	nonCausal  bool // see decode.Chunk
	mrope      bool
	interrupts flag
	sink       *logSink

	pixelBudget *semaphore.Weighted // of concurrent decoding: one picture may take hundreds of megabytes

	mu      sync.Mutex
	layouts map[[32]byte]decode.Layout
	decoded []decodedPicture // laid out and not encoded yet

	chunks   *C.struct_mtmd_input_chunks // of the picture being encoded; nil: none
	chunksOf [32]byte
}

type decodedPicture struct {
	key  [32]byte
	data []byte
}

// maxDecoded is how many pictures keep their pixels from layout to encoding, 12
// MB each at most, so that a new picture is decoded once.
const maxDecoded = 2

// maxLayouts is how many layouts are cached, so that the pictures of a long
// conversation are not decoded again in each turn.
const maxLayouts = 1024

// loadProjector loads a projector.
func loadProjector(path string, w *weights, s *session) (*projector, error) {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	ctx := C.shim_projector(name, w.model, C.int32_t(s.governor.max), s.interrupts.p)
	if ctx == nil {
		return nil, fmt.Errorf("%s: llama.cpp cannot use the projector with this model: %s", path, s.sink.reason())
	}
	return &projector{
		ctx:         ctx,
		width:       s.width,
		nonCausal:   bool(C.mtmd_decode_use_non_causal(ctx)),
		mrope:       bool(C.mtmd_decode_use_mrope(ctx)),
		interrupts:  s.interrupts,
		sink:        s.sink,
		layouts:     map[[32]byte]decode.Layout{},
		pixelBudget: semaphore.NewWeighted(picture.MaxPixels),
	}, nil
}

// attachProjector adds a projector to the session. It returns nil if path is
// empty.
func attachProjector(path string, w *weights, s *session) (decode.ImageEncoder, error) {
	if path == "" {
		return nil, nil
	}
	p, err := loadProjector(path, w, s)
	if err != nil {
		return nil, err
	}
	s.projector, s.imageBatch = p, newImageBatch(s.rows, s.width)
	return p, nil
}

// free waits for layouts in progress: requests may still run.
func (p *projector) free() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.freeChunks()
	C.mtmd_free(p.ctx)
	p.ctx = nil
}

// Layout implements [decode.ImageEncoder].
func (p *projector) Layout(ctx context.Context, pic *picture.Picture) (decode.Layout, error) {
	if l := p.layoutOf(pic); l != nil {
		return l, nil
	}
	pixels, err := p.DecodePixels(ctx, pic)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ctx == nil {
		return nil, decode.ErrUnloaded()
	}
	chunks, err := p.tokenize(pic, pixels)
	if err != nil {
		return nil, err
	}
	defer C.mtmd_input_chunks_free(chunks)
	var l decode.Layout
	for i := range C.mtmd_input_chunks_size(chunks) {
		s := p.chunk(C.mtmd_input_chunks_get(chunks, i))
		if slices.Contains(s.Tokens, noToken) {
			return nil, engine.Errorf(engine.CodeUnsupported, "The projector is for another model: this one lacks a special token around images.").At(engine.Place{Field: engine.FieldModel})
		}
		if s.NonCausal && s.Cells > decode.BatchRows {
			return nil, engine.Errorf(engine.CodeInvalidArgument, "The image takes %d tokens, and this model accepts %d at most.", s.Cells, decode.BatchRows)
		}
		l = append(l, s)
	}
	if len(p.layouts) >= maxLayouts {
		clear(p.layouts)
	}
	p.layouts[pic.Key] = l
	p.decoded = append(p.decoded[max(0, len(p.decoded)-maxDecoded+1):], decodedPicture{pic.Key, pixels})
	return l, nil
}

// noToken is LLAMA_TOKEN_NULL: the vocabulary lacks the token.
const noToken = -1

func (p *projector) layoutOf(pic *picture.Picture) decode.Layout {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.layouts[pic.Key]
}

// DecodePixels implements [decode.ImageEncoder]. Concurrent calls decode as many
// pixels together as one picture may have.
func (p *projector) DecodePixels(ctx context.Context, pic *picture.Picture) ([]byte, error) {
	if data := p.takeDecoded(pic.Key); data != nil {
		return data, nil
	}
	if err := p.pixelBudget.Acquire(ctx, pic.Weight()); err != nil {
		return nil, engine.AsError(err)
	}
	defer p.pixelBudget.Release(pic.Weight())
	return pic.Pixels(ctx)
}

func (p *projector) takeDecoded(key [32]byte) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.decoded, func(u decodedPicture) bool { return u.key == key })
	if i < 0 {
		return nil
	}
	data := p.decoded[i].data
	p.decoded = slices.Delete(p.decoded, i, i+1)
	return data
}

// tokenize splits a picture into chunks, with mtmd_tokenize.
func (p *projector) tokenize(pic *picture.Picture, pixels []byte) (*C.struct_mtmd_input_chunks, error) {
	chunks := C.shim_tokenize_image(p.ctx, C.uint32_t(pic.Width), C.uint32_t(pic.Height), (*C.uchar)(unsafe.SliceData(pixels)))
	if chunks == nil {
		return nil, engine.Errorf(engine.CodeInternal, "The model could not tokenize the image.").Because(errors.New(p.sink.reason()))
	}
	return chunks, nil
}

func (p *projector) chunk(chunk *C.struct_mtmd_input_chunk) decode.Chunk {
	if C.mtmd_input_chunk_get_type(chunk) == C.MTMD_INPUT_CHUNK_TYPE_TEXT {
		var n C.size_t
		tokens := C.mtmd_input_chunk_get_tokens_text(chunk, &n)
		s := decode.Chunk{Tokens: make([]int32, n)}
		for i, t := range unsafe.Slice(tokens, n) {
			s.Tokens[i] = int32(t)
		}
		return s
	}
	s := decode.Chunk{Cells: int(C.mtmd_input_chunk_get_n_tokens(chunk)), NonCausal: p.nonCausal}
	if p.mrope {
		s.Columns = int(C.mtmd_image_tokens_get_nx(C.mtmd_input_chunk_get_tokens_image(chunk)))
	}
	return s
}

// encode computes the embeddings of a chunk. Only the decode loop calls it.
func (p *projector) encode(v decode.ImageInput, threads int) ([]float32, decode.Outcome, error) {
	chunk, last, err := p.prepare(v)
	if err != nil {
		return nil, decode.Failed, err
	}
	embedding := make([]float32, v.Cells*p.width)
	result := C.shim_encode(p.ctx, C.int32_t(threads), chunk,
		(*C.float)(unsafe.SliceData(embedding)), C.size_t(len(embedding)))
	switch {
	case result == 0:
		if last {
			p.freeChunks()
		}
		return embedding, decode.Computed, nil
	case p.interrupts.raised():
		return nil, decode.Interrupted, nil
	}
	p.freeChunks()
	return nil, decode.Failed, errors.New(p.sink.reason())
}

// prepare finds the mtmd chunk to encode. The picture's chunks are kept until the
// last is encoded, unless another picture comes first.
func (p *projector) prepare(v decode.ImageInput) (chunk *C.struct_mtmd_input_chunk, last bool, err error) {
	if p.chunks == nil || p.chunksOf != v.Picture.Key {
		p.freeChunks()
		pixels, err := v.Pixels()
		if err != nil {
			return nil, false, err
		}
		if p.chunks, err = p.tokenize(v.Picture, pixels); err != nil {
			return nil, false, err
		}
		p.chunksOf = v.Picture.Key
	}
	part := 0
	for i := range C.mtmd_input_chunks_size(p.chunks) {
		c := C.mtmd_input_chunks_get(p.chunks, i)
		if C.mtmd_input_chunk_get_type(c) == C.MTMD_INPUT_CHUNK_TYPE_TEXT {
			continue
		}
		if part == v.Index {
			chunk = c
		}
		part++
	}
	if chunk == nil || int(C.mtmd_input_chunk_get_n_tokens(chunk)) != v.Cells {
		return nil, false, errors.New("the picture's layout has changed")
	}
	return chunk, v.Index == part-1, nil
}

func (p *projector) freeChunks() {
	if p.chunks != nil {
		C.mtmd_input_chunks_free(p.chunks)
		p.chunks = nil
	}
}

func (f flag) raised() bool { return atomic.LoadInt32((*int32)(unsafe.Pointer(f.p))) != 0 }
