//go:build llamacpp

#include "projector.h"
#include "guard.h"
#include "mtmd/steer.h"

#include <cstring>
#include <memory>

struct mtmd_context * shim_projector(const char * path, const struct llama_model * model, int32_t threads, int32_t * interrupt) {
    ggml_log_callback callback = nullptr;
    void * data = nullptr;
    llama_log_get(&callback, &data);
    mtmd_log_set(callback, data);
    return guarded([&]() -> mtmd_context * {
        struct mtmd_context_params params = mtmd_context_params_default();
        params.print_timings = false;
        params.n_threads = threads;
        mtmd_context * ctx = mtmd_init_from_file(path, model, params);
        if (ctx != nullptr && !mtmd_support_vision(ctx)) {
            log_threw("the projector is for audio, not for images");
            mtmd_free(ctx);
            return nullptr;
        }
        if (ctx != nullptr) {
            steer_abort(ctx, raised, interrupt);
        }
        return ctx;
    }, static_cast<mtmd_context *>(nullptr));
}

struct mtmd_input_chunks * shim_tokenize_image(struct mtmd_context * ctx, uint32_t width, uint32_t height, const unsigned char * pixels) {
    return guarded([&]() -> mtmd_input_chunks * {
        std::unique_ptr<mtmd_bitmap, decltype(&mtmd_bitmap_free)> bitmap(mtmd_bitmap_init(width, height, pixels), mtmd_bitmap_free);
        std::unique_ptr<mtmd_input_chunks, decltype(&mtmd_input_chunks_free)> chunks(mtmd_input_chunks_init(), mtmd_input_chunks_free);
        const mtmd_input_text text = {mtmd_default_marker(), false, true};
        const mtmd_bitmap * bitmaps[] = {bitmap.get()};
        if (mtmd_tokenize(ctx, chunks.get(), &text, bitmaps, 1) != 0) {
            return nullptr;
        }
        return chunks.release();
    }, static_cast<mtmd_input_chunks *>(nullptr));
}

int32_t shim_encode(struct mtmd_context * ctx, int32_t threads, const struct mtmd_input_chunk * chunk, float * embedding, size_t n) {
    return guarded([&] {
        steer_threads(ctx, threads);
        const int32_t result = mtmd_encode_chunk(ctx, chunk);
        if (result == 0) {
            std::memcpy(embedding, mtmd_get_output_embd(ctx), n * sizeof(float));
        }
        return result;
    }, SHIM_THREW);
}
