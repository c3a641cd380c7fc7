//go:build llamacpp && cgo

package llamacpp

// #include <stdlib.h>
// #include "projector.h"
import "C"

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/diglot/diglot/engine"
	_ "github.com/diglot/diglot/engine/llamacpp/mtmd" // what projector.cpp calls
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

	mu    sync.Mutex // one picture is unpacked at a time: it may take hundreds of megabytes
	known map[[32]byte]layout

	ready   *C.struct_mtmd_input_chunks // of the picture that is being encoded; nil: none
	readyOf [32]byte
}

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
		known:      map[[32]byte]layout{},
	}, nil
}

// attachProjector gives the session a projector and returns what lays pictures
// out; nil where path is empty.
func attachProjector(path string, w *weights, s *session) (func(*picture.Picture) (layout, error), error) {
	if path == "" {
		return nil, nil
	}
	p, err := loadProjector(path, w, s)
	if err != nil {
		return nil, err
	}
	s.projector, s.glances = p, newGlanceBatch(s.rows, s.width)
	return p.layout, nil
}

// free waits for a picture that is being laid out: requests may still run.
func (p *projector) free() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forget()
	C.mtmd_free(p.ctx)
	p.ctx = nil
}

// layout says what a picture is to the model. Its errors are for the client
// where the picture is to blame.
func (p *projector) layout(pic *picture.Picture) (layout, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l, ok := p.known[pic.Key]; ok {
		return l, nil
	}
	if p.ctx == nil {
		return nil, errUnloaded()
	}
	chunks, err := p.lay(pic)
	if err != nil {
		return nil, err
	}
	defer C.mtmd_input_chunks_free(chunks)
	var l layout
	for i := range C.mtmd_input_chunks_size(chunks) {
		s := p.section(C.mtmd_input_chunks_get(chunks, i))
		if s.whole && s.cells > batchRows {
			return nil, engine.Errorf(engine.CodeInvalidArgument, "The image takes %d tokens, and this model reads %d at most.", s.cells, batchRows)
		}
		l = append(l, s)
	}
	if len(p.known) >= maxKnown {
		clear(p.known)
	}
	p.known[pic.Key] = l
	return l, nil
}

// lay unpacks a picture and has it cut to what the model takes.
func (p *projector) lay(pic *picture.Picture) (*C.struct_mtmd_input_chunks, error) {
	pixels, err := pic.Pixels()
	if err != nil {
		return nil, err
	}
	chunks := C.shim_lay(p.ctx, C.uint32_t(pic.Width), C.uint32_t(pic.Height), (*C.uchar)(unsafe.SliceData(pixels)))
	if chunks == nil {
		return nil, engine.Errorf(engine.CodeInternal, "The model could not take the image.").Because(errors.New(p.sink.reason()))
	}
	return chunks, nil
}

func (p *projector) section(chunk *C.struct_mtmd_input_chunk) section {
	if C.mtmd_input_chunk_get_type(chunk) == C.MTMD_INPUT_CHUNK_TYPE_TEXT {
		var n C.size_t
		tokens := C.mtmd_input_chunk_get_tokens_text(chunk, &n)
		s := section{tokens: make([]int32, n)}
		for i, t := range unsafe.Slice(tokens, n) {
			s.tokens[i] = int32(t)
		}
		return s
	}
	s := section{cells: int(C.mtmd_input_chunk_get_n_tokens(chunk)), whole: p.whole}
	if p.grid {
		s.columns = int(C.mtmd_image_tokens_get_nx(C.mtmd_input_chunk_get_tokens_image(chunk)))
	}
	return s
}

// encode computes the embedding of a view. Only the loop calls it.
func (p *projector) encode(v *view, threads int) ([]float32, decoded, error) {
	chunk, last, err := p.prepare(v)
	if err != nil {
		return nil, decodedFailed, err
	}
	embedding := make([]float32, v.cells*p.width)
	result := C.shim_encode(p.ctx, C.int32_t(threads), chunk,
		(*C.float)(unsafe.SliceData(embedding)), C.size_t(len(embedding)))
	switch {
	case result == 0:
		if last {
			p.forget()
		}
		return embedding, decodedAll, nil
	case p.interrupts.raised():
		return nil, decodedInterrupted, nil
	}
	p.forget()
	return nil, decodedFailed, errors.New(p.sink.reason())
}

// prepare finds the chunk of a view. What was made of its picture is kept until
// the last chunk, and made again where another picture came between.
func (p *projector) prepare(v *view) (chunk *C.struct_mtmd_input_chunk, last bool, err error) {
	if p.ready == nil || p.readyOf != v.picture.Key {
		p.forget()
		if p.ready, err = p.lay(v.picture); err != nil {
			return nil, false, err
		}
		p.readyOf = v.picture.Key
	}
	part := 0
	for i := range C.mtmd_input_chunks_size(p.ready) {
		c := C.mtmd_input_chunks_get(p.ready, i)
		if C.mtmd_input_chunk_get_type(c) == C.MTMD_INPUT_CHUNK_TYPE_TEXT {
			continue
		}
		if part == v.part {
			chunk = c
		}
		part++
	}
	if chunk == nil || int(C.mtmd_input_chunk_get_n_tokens(chunk)) != v.cells {
		return nil, false, errors.New("the picture is laid out in another way than before")
	}
	return chunk, v.part == part-1, nil
}

func (p *projector) forget() {
	if p.ready != nil {
		C.mtmd_input_chunks_free(p.ready)
		p.ready = nil
	}
}

// raised says whether the flag is.
func (f flag) raised() bool { return atomic.LoadInt32((*int32)(unsafe.Pointer(f.p))) != 0 }
