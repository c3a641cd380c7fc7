// Calls to mtmd that may throw.
#pragma once

#include "shim.h"
#include <../tools/mtmd/mtmd.h>

#ifdef __cplusplus
extern "C" {
#endif

// shim_projector loads a projector, or returns NULL. Encoding with it aborts while
// interrupt is raised.
struct mtmd_context * shim_projector(const char * path, const struct llama_model * model, int32_t threads, int32_t * interrupt);

// shim_tokenize_image splits a picture of RGB pixels into chunks, or returns NULL.
// It is safe for concurrent use, also with shim_encode.
struct mtmd_input_chunks * shim_tokenize_image(struct mtmd_context * ctx, uint32_t width, uint32_t height, const unsigned char * pixels);

// shim_encode encodes an image chunk into n floats. It returns 0 on success.
int32_t shim_encode(struct mtmd_context * ctx, int32_t threads, const struct mtmd_input_chunk * chunk, float * embedding, size_t n);

#ifdef __cplusplus
}
#endif
