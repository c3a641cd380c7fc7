//go:build llamacpp && cgo

package llamacpp

// #include "shim.h"
import "C"

import (
	"encoding/binary"
	"io"
	"os"
)

// worker is the thread that decodes. It is one of C, and Go waits for it as
// for a file: during a long call into C, Go's scheduler looks every few
// microseconds whether it has ended, on a core that llama.cpp needs.
type worker struct {
	thread  *C.struct_shim_worker
	in, out *os.File // the pipe that the results come through
}

// newWorker returns nil where the system has no thread or no pipe to give.
func newWorker(ctx *C.struct_llama_context) *worker {
	in, out, err := os.Pipe()
	if err != nil {
		return nil
	}
	thread := C.shim_worker_start(ctx, C.int32_t(out.Fd()))
	if thread == nil {
		_ = in.Close()
		_ = out.Close()
		return nil
	}
	return &worker{thread, in, out}
}

// decode returns what shim_decode does.
func (w *worker) decode(batch C.struct_llama_batch, tiles bool) int32 {
	C.shim_worker_decode(w.thread, batch, C.bool(tiles))
	var result [4]byte
	if _, err := io.ReadFull(w.in, result[:]); err != nil {
		return C.SHIM_THREW
	}
	return int32(binary.NativeEndian.Uint32(result[:]))
}

// free ends the thread, which must not be decoding.
func (w *worker) free() {
	C.shim_worker_free(w.thread)
	_ = w.in.Close()
	_ = w.out.Close()
}
