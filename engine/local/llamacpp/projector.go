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

// projector is a loaded file that makes a text model see.
type projector struct {
	ctx        *C.struct_mtmd_context
	width      int  // numbers that stand for one cell
	whole      bool // as in section
	grid       bool // positions have two dimensions
	interrupts flag
	sink       *logSink

	turns *semaphore.Weighted // of pictures that are unpacked: one may take hundreds of megabytes

	mu     sync.Mutex
	known  map[[32]byte]decode.Layout
	recent []unpacked // pictures that were laid out and not encoded yet

	ready   *C.struct_mtmd_input_chunks // of the picture that is being encoded; nil: none
	readyOf [32]byte
}

// unpacked is a picture with its pixels.
type unpacked struct {
	key  [32]byte
	data []byte
}

// maxRecent is how many pictures are kept unpacked, so that a new one is
// unpacked once: 12 megabytes each at most.
const maxRecent = 2

// maxKnown is how many layouts are remembered, so that the pictures of a long
// conversation are not unpacked in each of its turns.
const maxKnown = 1024

// loadProjector loads the file for a model that has a session.
func loadProjector(path string, w *weights, s *session) (*projector, error) {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	ctx := C.shim_projector(name, w.model, C.int32_t(s.governor.most), s.interrupts.p)
	if ctx == nil {
		return nil, fmt.Errorf("%s: llama.cpp cannot use the projector with this model: %s", path, s.sink.reason())
	}
	return &projector{
		ctx:        ctx,
		width:      s.width,
		whole:      bool(C.mtmd_decode_use_non_causal(ctx)),
		grid:       bool(C.mtmd_decode_use_mrope(ctx)),
		interrupts: s.interrupts,
		sink:       s.sink,
		known:      map[[32]byte]decode.Layout{},
		turns:      semaphore.NewWeighted(picture.MaxPixels),
	}, nil
}

// attachProjector gives the session a projector and returns it as the model's
// eye; nil where path is empty.
func attachProjector(path string, w *weights, s *session) (decode.ImageEncoder, error) {
	if path == "" {
		return nil, nil
	}
	p, err := loadProjector(path, w, s)
	if err != nil {
		return nil, err
	}
	s.projector, s.glances = p, newGlanceBatch(s.rows, s.width)
	return p, nil
}

// free waits for a picture that is being laid out: requests may still run.
func (p *projector) free() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forget()
	C.mtmd_free(p.ctx)
	p.ctx = nil
}

// Layout implements eye.
func (p *projector) Layout(ctx context.Context, pic *picture.Picture) (decode.Layout, error) {
	if l := p.knows(pic); l != nil {
		return l, nil
	}
	pixels, err := p.Unpack(ctx, pic)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ctx == nil {
		return nil, decode.ErrUnloaded()
	}
	chunks, err := p.lay(pic, pixels)
	if err != nil {
		return nil, err
	}
	defer C.mtmd_input_chunks_free(chunks)
	var l decode.Layout
	for i := range C.mtmd_input_chunks_size(chunks) {
		s := p.section(C.mtmd_input_chunks_get(chunks, i))
		if slices.Contains(s.Tokens, noToken) {
			return nil, engine.Errorf(engine.CodeUnsupported, "The projector is for another model: this one lacks a token that stands beside images.").At(engine.Place{Field: engine.FieldModel})
		}
		if s.Whole && s.Cells > decode.BatchRows {
			return nil, engine.Errorf(engine.CodeInvalidArgument, "The image takes %d tokens, and this model reads %d at most.", s.Cells, decode.BatchRows)
		}
		l = append(l, s)
	}
	if len(p.known) >= maxKnown {
		clear(p.known)
	}
	p.known[pic.Key] = l
	p.recent = append(p.recent[max(0, len(p.recent)-maxRecent+1):], unpacked{pic.Key, pixels})
	return l, nil
}

// noToken is llama.cpp's number for a token that the model does not have.
const noToken = -1

func (p *projector) knows(pic *picture.Picture) decode.Layout {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.known[pic.Key]
}

// Unpack implements eye. So many pixels are decoded at a time as one picture
// may have.
func (p *projector) Unpack(ctx context.Context, pic *picture.Picture) ([]byte, error) {
	if data := p.takeRecent(pic.Key); data != nil {
		return data, nil
	}
	if err := p.turns.Acquire(ctx, pic.Weight()); err != nil {
		return nil, engine.AsError(err)
	}
	defer p.turns.Release(pic.Weight())
	return pic.Pixels(ctx)
}

func (p *projector) takeRecent(key [32]byte) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.recent, func(u unpacked) bool { return u.key == key })
	if i < 0 {
		return nil
	}
	data := p.recent[i].data
	p.recent = slices.Delete(p.recent, i, i+1)
	return data
}

// lay has a picture cut to what the model takes.
func (p *projector) lay(pic *picture.Picture, pixels []byte) (*C.struct_mtmd_input_chunks, error) {
	chunks := C.shim_lay(p.ctx, C.uint32_t(pic.Width), C.uint32_t(pic.Height), (*C.uchar)(unsafe.SliceData(pixels)))
	if chunks == nil {
		return nil, engine.Errorf(engine.CodeInternal, "The model could not take the image.").Because(errors.New(p.sink.reason()))
	}
	return chunks, nil
}

func (p *projector) section(chunk *C.struct_mtmd_input_chunk) decode.Section {
	if C.mtmd_input_chunk_get_type(chunk) == C.MTMD_INPUT_CHUNK_TYPE_TEXT {
		var n C.size_t
		tokens := C.mtmd_input_chunk_get_tokens_text(chunk, &n)
		s := decode.Section{Tokens: make([]int32, n)}
		for i, t := range unsafe.Slice(tokens, n) {
			s.Tokens[i] = int32(t)
		}
		return s
	}
	s := decode.Section{Cells: int(C.mtmd_input_chunk_get_n_tokens(chunk)), Whole: p.whole}
	if p.grid {
		s.Columns = int(C.mtmd_image_tokens_get_nx(C.mtmd_input_chunk_get_tokens_image(chunk)))
	}
	return s
}

// encode computes the embedding of a part. Only the loop calls it.
func (p *projector) encode(v decode.ImagePart, threads int) ([]float32, decode.Outcome, error) {
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
			p.forget()
		}
		return embedding, decode.Computed, nil
	case p.interrupts.raised():
		return nil, decode.Interrupted, nil
	}
	p.forget()
	return nil, decode.Failed, errors.New(p.sink.reason())
}

// prepare finds the chunk of a part. What was made of its picture is kept until
// the last chunk, and made again where another picture came between.
func (p *projector) prepare(v decode.ImagePart) (chunk *C.struct_mtmd_input_chunk, last bool, err error) {
	if p.ready == nil || p.readyOf != v.Picture.Key {
		p.forget()
		pixels, err := v.Pixels()
		if err != nil {
			return nil, false, err
		}
		if p.ready, err = p.lay(v.Picture, pixels); err != nil {
			return nil, false, err
		}
		p.readyOf = v.Picture.Key
	}
	part := 0
	for i := range C.mtmd_input_chunks_size(p.ready) {
		c := C.mtmd_input_chunks_get(p.ready, i)
		if C.mtmd_input_chunk_get_type(c) == C.MTMD_INPUT_CHUNK_TYPE_TEXT {
			continue
		}
		if part == v.Index {
			chunk = c
		}
		part++
	}
	if chunk == nil || int(C.mtmd_input_chunk_get_n_tokens(chunk)) != v.Cells {
		return nil, false, errors.New("the picture is laid out in another way than before")
	}
	return chunk, v.Index == part-1, nil
}

func (p *projector) forget() {
	if p.ready != nil {
		C.mtmd_input_chunks_free(p.ready)
		p.ready = nil
	}
}

// raised reports whether the flag is.
func (f flag) raised() bool { return atomic.LoadInt32((*int32)(unsafe.Pointer(f.p))) != 0 }
