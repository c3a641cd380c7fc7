//go:build llamacpp && cgo

package llamacpp

// #include "shim.h"
import "C"

import (
	"encoding/binary"
	"io"
	"os"
)

// worker is the C thread that decodes. Go waits for it on a pipe: during a long
// cgo call, Go's sysmon thread polls every few microseconds, on a core that
// llama.cpp needs.
type worker struct {
	thread  *C.struct_shim_worker
	in, out *os.File // the pipe of the results
}

// newWorker returns nil if the system has no thread or pipe left.
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

// decode runs shim_decode on the thread.
func (w *worker) decode(batch C.struct_llama_batch, tiles bool) int32 {
	C.shim_worker_decode(w.thread, batch, C.bool(tiles))
	var result [4]byte
	if _, err := io.ReadFull(w.in, result[:]); err != nil {
		return C.SHIM_THREW
	}
	return int32(binary.NativeEndian.Uint32(result[:]))
}

// leftToGGML reports whether products or attention were left to ggml's own kernels, whose
// result for a token may depend on the tokens beside it.
func (w *worker) leftToGGML() bool { return bool(C.shim_worker_left_to_ggml(w.thread)) }

// free stops the thread, which must not be decoding.
func (w *worker) free() {
	C.shim_worker_free(w.thread)
	_ = w.in.Close()
	_ = w.out.Close()
}
