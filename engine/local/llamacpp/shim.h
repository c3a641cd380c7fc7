// What cgo cannot say by itself: callbacks that llama.cpp calls too often to
// enter Go, and calls that may throw. A C++ exception that reaches Go ends
// the process without a word; here it becomes a number.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "llama.h"

#ifdef __cplusplus
extern "C" {
#endif

// What the calls below return when llama.cpp threw; its text went to the log.
#define SHIM_THREW INT32_MIN

// A flag is an int32_t that other threads may raise at any time.
void shim_raise(int32_t * flag, int32_t value);

// shim_load maps the file, or reads it into memory of the process's own. It
// gives NULL when it fails or cancel is raised.
struct llama_model * shim_load(const char * path, bool mapped, int32_t * cancel);

// shim_load_vocabulary loads no more of the file than that.
struct llama_model * shim_load_vocabulary(const char * path);

// shim_context makes a context whose decodes stop early while interrupt is
// raised.
struct llama_context * shim_context(struct llama_model * model, struct llama_context_params params, int32_t * interrupt);

// A worker is a thread that calls shim_decode. It writes what each call
// returned, an int32_t, to a pipe; tiles asks for attention in tiles. NULL:
// there is no thread to be had.
struct shim_worker;
struct shim_worker * shim_worker_start(struct llama_context * ctx, int32_t pipe);
void shim_worker_decode(struct shim_worker * worker, struct llama_batch batch, bool tiles);
void shim_worker_free(struct shim_worker * worker);

int32_t shim_decode(struct llama_context * ctx, struct llama_batch batch);
// whole: with what the tokenizer adds at the two ends of a text. special: the
// spellings of control tokens are those.
int32_t shim_tokenize(const struct llama_vocab * vocab, const char * text, int32_t length, llama_token * tokens, int32_t capacity, bool whole, bool special);
int32_t shim_piece(const struct llama_vocab * vocab, llama_token token, char * buf, int32_t capacity);

// shim_bare reads the prompt and continues it n times with the likeliest
// token, as a C program would. It returns the nanoseconds of each token
// after the first, or -1.
int64_t shim_bare(struct llama_context * ctx, llama_token * prompt, int32_t length, int32_t n);

// shim_log sends the log of llama.cpp, which is one for the process, to the
// Go function llamacppLog with this handle.
void shim_log(uintptr_t handle);

#ifdef __cplusplus
}
#endif
