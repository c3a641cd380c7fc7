// Attention held against a plain one. It is here for a test: those of Go cannot
// call C themselves.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct shim_attention_case {
    int32_t heads, kv_heads; // that ask, and that are asked
    int32_t key, value;      // numbers of a head
    int32_t tokens, cells;
    int32_t sinks;           // 1: each head has a weight without a value
    int32_t threads;
};

// shim_attention_error computes random numbers in both ways. It returns the
// largest difference; negative: ggml does not compute it.
double shim_attention_error(struct shim_attention_case c);

#ifdef __cplusplus
}
#endif
