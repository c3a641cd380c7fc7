//go:build llamacpp && cgo

package llamacpp

// #include "pages.h"
// #include "shim.h"
import "C"

import (
	"errors"
	"fmt"
	"runtime/cgo"
	"time"
	"unsafe"

	"github.com/diglot/diglot/engine/local/decode"
	"github.com/diglot/diglot/engine/local/llamacpp/matrix"
)

// Bare is llama.cpp driven by a loop in C, the baseline of benchmarks.
type Bare struct {
	weights *weights
	session *session
}

const bareCells = 2048

// OpenBare loads a model with llama.cpp's defaults and Options.Threads.
func OpenBare(options Options) (*Bare, error) { return openBare(options, mapped) }

// OpenBareCopied is [OpenBare] with weights in huge pages, like [Open].
func OpenBareCopied(options Options) (*Bare, error) {
	C.shim_huge_pages(C.bool(grantsHugePages()))
	return openBare(options, copied)
}

func openBare(options Options, place placement) (*Bare, error) {
	options = options.withDefaults()
	matrix.Register() // unused here; after the first model, it is too late for a later one
	sink := &logSink{log: options.Log}
	C.shim_log(C.uintptr_t(cgo.NewHandle(sink)))
	cancel := newFlag()
	defer cancel.free()
	w := loadWeights(options.Path, place, kernels{}, cancel)
	if w == nil {
		return nil, fmt.Errorf("llama.cpp cannot load %s", options.Path)
	}
	s := newSession(w, sessionConfig{
		cells:     bareCells,
		sequences: 1,
		rows:      decode.BatchRows,
		governor:  newGovernor(options),
		sink:      sink,
	})
	if s == nil {
		w.free()
		return nil, errors.New("llama.cpp cannot create a context")
	}
	return &Bare{w, s}, nil
}

// Token prefills the prompt, of at most 512 tokens, generates n tokens and returns
// the time per token.
func (b *Bare) Token(prompt []int32, n int) (time.Duration, error) {
	if len(prompt) == 0 || len(prompt) > decode.BatchRows || n < 1 || n >= bareCells-decode.BatchRows {
		return 0, fmt.Errorf("cannot measure a prompt of %d tokens and %d more", len(prompt), n)
	}
	spent := C.shim_bare(b.session.ctx, (*C.llama_token)(unsafe.Pointer(&prompt[0])), C.int32_t(len(prompt)), C.int32_t(n))
	if spent < 0 {
		return 0, errors.New("llama.cpp failed to decode")
	}
	return time.Duration(spent), nil
}

// Close frees the model.
func (b *Bare) Close() {
	b.session.Free()
	b.weights.free()
}
