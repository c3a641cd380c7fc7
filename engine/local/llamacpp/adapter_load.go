//go:build llamacpp && cgo

package llamacpp

// #include <stdlib.h>
// #include "adapter.h"
import "C"

import (
	"fmt"
	"unsafe"
)

// adapt loads adapters. All sessions over w that are made later have them.
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

// applyAdapters gives a context the adapters, at full strength.
func (w *weights) applyAdapters(ctx *C.struct_llama_context) {
	for _, a := range w.adapters {
		C.llama_set_adapter_lora(ctx, a, 1) // fails for no adapter
	}
}

// freeAdapters comes before the model is freed, and after the contexts.
func (w *weights) freeAdapters() {
	for _, a := range w.adapters {
		C.llama_adapter_lora_free(a)
	}
	w.adapters = nil
}
