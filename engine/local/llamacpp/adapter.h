// Adapters of a model.
#pragma once

#include "llama.h"

#ifdef __cplusplus
extern "C" {
#endif

// shim_adapter loads an adapter; NULL: it cannot be used. llama.cpp ends the
// process where a key of the file has another type than it expects.
struct llama_adapter_lora * shim_adapter(struct llama_model * model, const char * path);

#ifdef __cplusplus
}
#endif
