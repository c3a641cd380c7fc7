//go:build llamacpp

#include "attention.h"
#include "guard.h"
#include "pages.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <unistd.h>

// In log.go.
extern "C" void llamacppLog(uintptr_t handle, int32_t level, char * text);

static void forward(enum ggml_log_level level, const char * text, void * data) {
    llamacppLog(reinterpret_cast<uintptr_t>(data), level, const_cast<char *>(text));
}

void shim_log(uintptr_t handle) {
    llama_log_set(forward, reinterpret_cast<void *>(handle));
}

void log_threw(const char * what) {
    ggml_log_callback callback = nullptr;
    void * data = nullptr;
    llama_log_get(&callback, &data);
    if (callback != nullptr) {
        callback(GGML_LOG_LEVEL_ERROR, what, data);
        callback(GGML_LOG_LEVEL_CONT, "\n", data);
    }
}

void shim_raise(int32_t * flag, int32_t value) {
    __atomic_store_n(flag, value, __ATOMIC_RELEASE);
}

bool raised(void * flag) {
    return __atomic_load_n(static_cast<int32_t *>(flag), __ATOMIC_ACQUIRE) != 0;
}

static bool not_raised(float, void * flag) {
    return !raised(flag);
}

struct llama_model * shim_load(const char * path, bool mapped, int32_t * cancel) {
    struct llama_model_params params = llama_model_default_params();
    params.use_mmap = mapped;
    params.progress_callback = not_raised;
    params.progress_callback_user_data = cancel;
    return guarded([&] { return llama_model_load_from_file(path, params); }, static_cast<llama_model *>(nullptr));
}

struct llama_model * shim_load_vocabulary(const char * path) {
    struct llama_model_params params = llama_model_default_params();
    params.vocab_only = true;
    return guarded([&] { return llama_model_load_from_file(path, params); }, static_cast<llama_model *>(nullptr));
}

struct llama_context * shim_context(struct llama_model * model, struct llama_context_params params, int32_t * interrupt) {
    params.abort_callback = raised;
    params.abort_callback_data = interrupt;
    return guarded([&] { return llama_init_from_model(model, params); }, static_cast<llama_context *>(nullptr));
}

int32_t shim_decode(struct llama_context * ctx, struct llama_batch batch) {
    return guarded([&] {
        const int32_t result = llama_decode(ctx, batch);
        llama_synchronize(ctx);
        return result;
    }, SHIM_THREW);
}

bool shim_only_cpu() {
    for (size_t i = 0; i < ggml_backend_dev_count(); i++) {
        if (ggml_backend_dev_type(ggml_backend_dev_get(i)) != GGML_BACKEND_DEVICE_TYPE_CPU) {
            return false;
        }
    }
    return true;
}

// A batch of so many tokens is a prompt that is worth joining pages for.
static constexpr int32_t longer = 32;

struct shim_worker {
    struct llama_context * ctx;
    int32_t pipe;
    bool tiles = false;
    bool left_to_ggml = false; // products or attention of any decode
    struct llama_batch batch;
    bool wanted = false;
    bool ended = false;
    std::mutex mutex;
    std::condition_variable signal;
    std::thread thread;

    int32_t compute() {
        return guarded([&] {
            if (batch.n_tokens >= longer) {
                shim_join_pages();
            }
            const attention_turn mine(tiles ? attention_kernels::best : attention_kernels::rows);
            const int32_t result = shim_decode(ctx, batch);
            left_to_ggml = left_to_ggml || mine.left_to_ggml();
            return result;
        }, SHIM_THREW);
    }

    void run() {
        for (;;) {
            {
                std::unique_lock<std::mutex> lock(mutex);
                signal.wait(lock, [&] { return wanted || ended; });
                if (ended) {
                    return;
                }
                wanted = false;
            }
            const int32_t result = compute();
            while (write(pipe, &result, sizeof result) < 0 && errno == EINTR) {
            }
        }
    }
};

struct shim_worker * shim_worker_start(struct llama_context * ctx, int32_t pipe) {
    return guarded([&] {
        auto worker = std::make_unique<shim_worker>();
        worker->ctx = ctx;
        worker->pipe = pipe;
        worker->thread = std::thread(&shim_worker::run, worker.get());
        return worker.release();
    }, static_cast<shim_worker *>(nullptr));
}

void shim_worker_decode(struct shim_worker * worker, struct llama_batch batch, bool tiles) {
    {
        std::lock_guard<std::mutex> lock(worker->mutex);
        worker->batch = batch;
        worker->tiles = tiles;
        worker->wanted = true;
    }
    worker->signal.notify_one();
}

bool shim_worker_left_to_ggml(const struct shim_worker * worker) { return worker->left_to_ggml; }

void shim_worker_free(struct shim_worker * worker) {
    {
        std::lock_guard<std::mutex> lock(worker->mutex);
        worker->ended = true;
    }
    worker->signal.notify_one();
    worker->thread.join();
    delete worker;
}

int32_t shim_tokenize(const struct llama_vocab * vocab, const char * text, int32_t length, llama_token * tokens, int32_t capacity, bool add_special, bool parse_special) {
    return guarded([&] { return llama_tokenize(vocab, text, length, tokens, capacity, add_special, parse_special); }, SHIM_THREW);
}

int32_t shim_piece(const struct llama_vocab * vocab, llama_token token, char * buf, int32_t capacity) {
    return guarded([&] { return llama_token_to_piece(vocab, token, buf, capacity, 0, true); }, SHIM_THREW);
}

int64_t shim_bare(struct llama_context * ctx, llama_token * prompt, int32_t length, int32_t n) {
    const int32_t size = llama_vocab_n_tokens(llama_model_get_vocab(llama_get_model(ctx)));
    llama_memory_clear(llama_get_memory(ctx), false);
    struct llama_batch batch = llama_batch_get_one(prompt, length);
    llama_token token = 0;
    auto start = std::chrono::steady_clock::now();
    for (int32_t i = 0; i <= n; i++) {
        if (shim_decode(ctx, batch) != 0) {
            return -1;
        }
        const float * logits = llama_get_logits_ith(ctx, -1);
        token = static_cast<llama_token>(std::max_element(logits, logits + size) - logits);
        batch = llama_batch_get_one(&token, 1);
        if (i == 0) {
            start = std::chrono::steady_clock::now();
        }
    }
    const auto spent = std::chrono::steady_clock::now() - start;
    return std::chrono::duration_cast<std::chrono::nanoseconds>(spent).count() / n;
}
