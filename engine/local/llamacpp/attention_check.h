// Test code: compares tiled attention with a naive implementation. Go tests
// cannot use cgo.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct shim_attention_case {
    int32_t heads, kv_heads;
    int32_t key, value;      // length of a head's key and value
    int32_t tokens, cells;
    int32_t sinks;           // 1: with attention sinks
    int32_t extreme;         // 1: values are zero, the least and the largest of fp16
    int32_t threads;
};

// shim_attention_error runs both over random numbers. It returns the largest
// difference, or a negative number if ggml fails.
double shim_attention_error(struct shim_attention_case c);

// shim_attention_different runs attention over random numbers in tiles and in
// rows, with cells in several orders. It returns how many results have other bits
// than the first, or a negative number if ggml fails.
int64_t shim_attention_different(struct shim_attention_case c);

// shim_attention_alone runs attention for tokens together, and for each alone. It
// returns how many results have other bits alone, or a negative number if ggml fails.
int64_t shim_attention_alone(struct shim_attention_case c);

#ifdef __cplusplus
}
#endif
