// Calls into llama.cpp's vision code that may throw.
#pragma once

#include "shim.h"
#include <../tools/mtmd/mtmd.h>

#ifdef __cplusplus
extern "C" {
#endif

// shim_projector gives NULL when it fails. What computes an image with it stops
// early while interrupt is raised.
struct mtmd_context * shim_projector(const char * path, const struct llama_model * model, int32_t threads, int32_t * interrupt);

// shim_lay says what a picture of RGB pixels is to the model. NULL: it failed.
// It is safe for concurrent use, also beside shim_encode.
struct mtmd_input_chunks * shim_lay(struct mtmd_context * ctx, uint32_t width, uint32_t height, const unsigned char * pixels);

// shim_encode computes one chunk with cells and writes n floats. 0: it did.
int32_t shim_encode(struct mtmd_context * ctx, int32_t threads, const struct mtmd_input_chunk * chunk, float * embedding, size_t n);

#ifdef __cplusplus
}
#endif
