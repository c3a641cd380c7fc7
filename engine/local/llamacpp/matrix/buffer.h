// Products of quantised weights in place of llama.cpp's.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// matrix_register adds the buffer type to ggml's, before its own. It must be called
// before the first model is loaded; a second call does nothing.
void matrix_register(void);

// matrix_choose says how the next model is loaded: with our kernels or without
// them, and whether its token embeddings are its output layer too, so that one copy
// must serve both; and whether it only reads texts, many tokens at once, as models of
// embeddings do. So many threads lay out its weights.
void matrix_choose(bool ours, bool tied, bool reads, int32_t threads);

// matrix_instructions names the instruction set of the kernels; NULL: this
// processor has none that they were written for.
const char * matrix_instructions(void);

// matrix_instructions_for names those that multiply weights of a type, as GGUF names it,
// with so many columns; NULL: ggml multiplies them.
const char * matrix_instructions_for(const char * type, int64_t width);

// matrix_bytes are how many bytes of weights lie in buffers of ours.
int64_t matrix_bytes(void);

#ifdef __cplusplus
}
#endif
