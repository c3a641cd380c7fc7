// What llama.cpp's own interface to its vision code lacks.
#pragma once

#include <stdint.h>
#include "ggml-cpu.h"

#ifdef __cplusplus
extern "C" {
#endif

struct clip_ctx;
struct mtmd_context;

// steer_threads says how many threads compute the next image.
void steer_threads(struct mtmd_context * ctx, int32_t threads);

// steer_abort makes the computing of an image stop early once callback
// returns true; the image then fails.
void steer_abort(struct mtmd_context * ctx, ggml_abort_callback callback, void * data);
void steer_clip_abort(struct clip_ctx * ctx, ggml_abort_callback callback, void * data);

#ifdef __cplusplus
}
#endif
