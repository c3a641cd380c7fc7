//go:build llamacpp

#include <../tools/mtmd/clip.cpp>

#include "steer.h"

void steer_clip_abort(struct clip_ctx * ctx, ggml_abort_callback callback, void * data) {
    ggml_backend_cpu_set_abort_callback(ctx->backend_cpu, callback, data);
}
