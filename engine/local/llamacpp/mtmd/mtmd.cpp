//go:build llamacpp

#include <../tools/mtmd/mtmd.cpp>

#include "steer.h"

void steer_threads(struct mtmd_context * ctx, int32_t threads) {
    ctx->n_threads = threads;
}

void steer_abort(struct mtmd_context * ctx, ggml_abort_callback callback, void * data) {
    steer_clip_abort(ctx->ctx_v, callback, data);
}
