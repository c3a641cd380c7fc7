// Callbacks that llama.cpp calls too often to enter Go, and calls that may throw:
// a C++ exception that reaches Go ends the process without a message, so it
// becomes a result here.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "llama.h"

#ifdef __cplusplus
extern "C" {
#endif

// Returned when llama.cpp threw; the message is in the log.
#define SHIM_THREW INT32_MIN

// A flag is an atomic int32_t.
void shim_raise(int32_t * flag, int32_t value);

// shim_load maps the file or reads it into memory. It returns NULL if it fails or
// cancel is raised.
struct llama_model * shim_load(const char * path, bool mapped, int32_t * cancel);

// shim_load_vocabulary loads a file without weights.
struct llama_model * shim_load_vocabulary(const char * path);

// shim_context creates a context whose decodes abort while interrupt is raised.
struct llama_context * shim_context(struct llama_model * model, struct llama_context_params params, int32_t * interrupt);

// A worker is a thread that calls shim_decode, with tiled attention or not, and
// writes its results, an int32_t each, to a pipe. NULL: there is no thread.
struct shim_worker;
struct shim_worker * shim_worker_start(struct llama_context * ctx, int32_t pipe);
void shim_worker_decode(struct shim_worker * worker, struct llama_batch batch, bool tiles);
void shim_worker_free(struct shim_worker * worker);

// shim_worker_left_to_ggml reports whether products or attention of any decode so far were left
// to ggml's own kernels. The worker must not be decoding.
bool shim_worker_left_to_ggml(const struct shim_worker * worker);

int32_t shim_decode(struct llama_context * ctx, struct llama_batch batch);

// shim_only_cpu reports whether llama.cpp has no devices but the CPU: neither a GPU nor a
// library of products.
bool shim_only_cpu(void);

int32_t shim_tokenize(const struct llama_vocab * vocab, const char * text, int32_t length, llama_token * tokens, int32_t capacity, bool add_special, bool parse_special);
int32_t shim_piece(const struct llama_vocab * vocab, llama_token token, char * buf, int32_t capacity);

// shim_bare prefills the prompt and generates n tokens greedily. It returns the
// nanoseconds per token after the first, or -1.
int64_t shim_bare(struct llama_context * ctx, llama_token * prompt, int32_t length, int32_t n);

// shim_log sends llama.cpp's log to the Go function llamacppLog.
void shim_log(uintptr_t handle);

#ifdef __cplusplus
}
#endif
