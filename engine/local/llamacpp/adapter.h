#pragma once

#include "llama.h"

#ifdef __cplusplus
extern "C" {
#endif

// shim_adapter loads an adapter, or returns NULL. It checks the types of metadata
// values first: llama.cpp aborts on wrong ones.
struct llama_adapter_lora * shim_adapter(struct llama_model * model, const char * path);

#ifdef __cplusplus
}
#endif
