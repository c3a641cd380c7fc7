// Compiled into stable-diffusion.cpp, this is what diglot calls of it. It adds four
// things to the C interface:
//
//   - structs without padding, which a caller without a C compiler can lay out
//   - an end of a picture between two steps: the progress callback throws, which
//     frees what the picture took
//   - another number of threads for the next step
//   - how many tokens a prompt has
//
// Package engine/imagegen/sdcpp has the other side. Its Release.Interface counts the
// versions of this file.

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "stable-diffusion.h"
#include "tokenizers/clip_tokenizer.h"
#include "tokenizers/t5_unigram_tokenizer.h"
#include "util.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

struct interrupted {};

typedef int (*step_callback)(int step, int steps);

// The library has one progress callback, so it draws one picture at a time.
struct drawing {
    step_callback callback;
    int steps;
};

void progress(int step, int steps, float, void* data) {
    const drawing* current = static_cast<const drawing*>(data);
    if (current == nullptr || steps != current->steps) {
        return; // of loading, when threads are running, or of tiles
    }
    if (current->callback(step, steps) != 0) {
        throw interrupted{};
    }
}

// The library prints progress where no callback is set.
void watch(drawing* current) { sd_set_progress_callback(progress, current); }

} // namespace

// diglot_release names the sources of this library.
EXPORT const char* diglot_release() { return "@RELEASE@"; }

namespace {
std::atomic<int> most_threads{0}; // 0: no limit
}

// diglot_limit_threads limits the threads of all that is computed from now on. 0: no
// limit.
EXPORT void diglot_limit_threads(int64_t n) { most_threads = static_cast<int>(n); }

// diglot_limited is called by ggml's CPU backend before it computes a graph.
EXPORT int diglot_limited(int threads) {
    const int most = most_threads;
    return most > 0 && most < threads ? most : threads;
}

// diglot_tokens counts the tokens of a prompt that a CLIP (0) or T5 (1) encoder gets,
// without those that begin and end it.
EXPORT int64_t diglot_tokens(const char* prompt, int64_t encoder) {
    static CLIPTokenizer clip;
    int64_t count = 0;
    const auto none = [](std::string&, std::vector<int32_t>&) { return false; };
    for (const auto& part : parse_prompt_attention(prompt)) {
        if (encoder == 0) {
            count += clip.encode(part.first, none).size();
            continue;
        }
        static T5UniGramTokenizer t5; // it has a large vocabulary
        count += t5.encode(part.first).size();
    }
    return count;
}

// diglot_files are paths; null: none.
struct diglot_files {
    const char* model; // with all its parts, or those that no other file has
    const char* diffusion;
    const char* clip_l;
    const char* clip_g;
    const char* t5xxl;
    const char* llm;
    const char* vae;
    const char* tae;
};

EXPORT sd_ctx_t* diglot_load(const diglot_files* files, int64_t threads) {
    watch(nullptr);
    sd_ctx_params_t params;
    sd_ctx_params_init(&params);
    params.model_path              = files->model;
    params.diffusion_model_path    = files->diffusion;
    params.clip_l_path             = files->clip_l;
    params.clip_g_path             = files->clip_g;
    params.t5xxl_path              = files->t5xxl;
    params.llm_path                = files->llm;
    params.vae_path                = files->vae;
    params.taesd_path              = files->tae;
    params.n_threads               = static_cast<int>(threads);
    params.free_params_immediately = false; // the next picture needs them
    return new_sd_ctx(&params);
}

// diglot_lora is a LoRA and how strongly it applies.
struct diglot_lora {
    const char* path;
    double strength;
};

// diglot_picture describes a picture. Negative numbers are the library's defaults.
struct diglot_picture {
    const diglot_lora* loras;
    int64_t lora_count;
    const char* prompt;
    const char* negative_prompt;
    int64_t width;
    int64_t height;
    int64_t seed;
    int64_t steps;
    int64_t sampler;
    int64_t scheduler;
    double guidance;
};

// diglot_draw returns a picture, or null if it failed or callback, which is called
// before the first step and after each, returned another value than 0.
EXPORT sd_image_t* diglot_draw(sd_ctx_t* context, const diglot_picture* picture, step_callback callback) {
    sd_img_gen_params_t params;
    sd_img_gen_params_init(&params);
    params.prompt          = picture->prompt;
    params.negative_prompt = picture->negative_prompt;
    params.width           = static_cast<int>(picture->width);
    params.height          = static_cast<int>(picture->height);
    params.seed            = picture->seed;
    if (picture->steps >= 0) {
        params.sample_params.sample_steps = static_cast<int>(picture->steps);
    }
    if (picture->sampler >= 0) {
        params.sample_params.sample_method = static_cast<sample_method_t>(picture->sampler);
    }
    if (picture->scheduler >= 0) {
        params.sample_params.scheduler = static_cast<scheduler_t>(picture->scheduler);
    }
    if (picture->guidance >= 0) {
        params.sample_params.guidance.txt_cfg = static_cast<float>(picture->guidance);
    }
    std::vector<sd_lora_t> loras;
    for (int64_t i = 0; i < picture->lora_count; i++) {
        loras.push_back({false, static_cast<float>(picture->loras[i].strength), picture->loras[i].path});
    }
    params.loras      = loras.data();
    params.lora_count = static_cast<uint32_t>(loras.size());
    drawing current{callback, params.sample_params.sample_steps};
    watch(&current);
    sd_image_t* images = nullptr;
    try {
        images = generate_image(context, &params);
    } catch (const interrupted&) {
    }
    watch(nullptr);
    return images;
}

// diglot_discard frees what diglot_draw returned.
EXPORT void diglot_discard(sd_image_t* image) {
    std::free(image->data);
    std::free(image);
}
