//go:build llamacpp && cgo

package llamacpp

// #include <stdlib.h>
// #include "adapter.h"
import "C"

import (
	"fmt"
	"unsafe"
)

// adapt loads adapters for all sessions that are created later.
func (w *weights) adapt(paths []string, sink *logSink) error {
	for _, path := range paths {
		name := C.CString(path)
		adapter := C.shim_adapter(w.model, name)
		C.free(unsafe.Pointer(name))
		if adapter == nil {
			return fmt.Errorf("adapter %s: llama.cpp cannot use it with this model: %s", path, sink.reason())
		}
		w.adapters = append(w.adapters, adapter)
	}
	return nil
}

// applyAdapters adds the adapters to a context, at scale 1.
func (w *weights) applyAdapters(ctx *C.struct_llama_context) {
	for _, a := range w.adapters {
		C.llama_set_adapter_lora(ctx, a, 1) // cannot fail
	}
}

// freeAdapters must be called after the contexts are freed and before the model.
func (w *weights) freeAdapters() {
	for _, a := range w.adapters {
		C.llama_adapter_lora_free(a)
	}
	w.adapters = nil
}
