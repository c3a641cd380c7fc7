#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// matrix_case is a product, for a test.
struct matrix_case {
    const char * type;    // of weights, as ggml names it
    int32_t width, rows, tokens, threads;
    int32_t experts, used; // of MUL_MAT_ID; 0: MUL_MAT
    int32_t own;          // 1: each expert that a token uses has activations of its own
    int32_t integers;     // 1: multiply fp16 by integers, where there are kernels for that
    int32_t ggml;         // 1: multiply by ggml's kernels
    int32_t values;       // random ones (0), or hostile ones, see check.cpp
};

// matrix_use makes ggml use the kernels of that name; false: there are none, or
// not for this processor.
bool matrix_use(const char * name);

// matrix_error computes the product with ggml and our kernels. It returns the
// largest difference from one in double precision, as a part of the sum of
// absolute products; negative: there is no such product.
double matrix_error(struct matrix_case c);

// matrix_different computes the product of all tokens at once, and of each alone.
// It returns how many results have other bits.
int64_t matrix_different(struct matrix_case c);

// matrix_part_different computes the product of all rows, and of some rows of most
// tokens. It returns how many results have other bits than they should.
int64_t matrix_part_different(struct matrix_case c);

// matrix_lookup_error looks up rows and returns the largest difference from the
// rows of the file.
double matrix_lookup_error(struct matrix_case c);

// matrix_row_error lets ggml look up as many rows as there are tokens, none of them
// row 1, and returns the same.
double matrix_row_error(struct matrix_case c);

// matrix_supported reports whether llama.cpp would load weights of that name into
// the buffer type of the kernels: for a product, or to look up rows.
bool matrix_supported(struct matrix_case c, const char * name, bool lookup);

// matrix_quantise_error compares the quantised activations with the plain ones. It
// returns how many differ.
int64_t matrix_quantise_error(struct matrix_case c);

// GELU after a product, or of a half of it with the other half as the gate, or with
// the gate of another product.
enum matrix_gelu_form { matrix_gelu_plain, matrix_gelu_bias, matrix_gelu_split, matrix_gelu_joined, matrix_gelu_swapped };

// matrix_gelu_error computes GELU with ggml, after a product by our kernels or by
// ggml's. It returns the largest relative difference from double precision.
double matrix_gelu_error(bool ours, int32_t form);

float matrix_gelu(float x);

// matrix_norm_error computes the RMS norm of a sum of so many columns and a product of
// ours. It returns the largest relative difference from double precision.
double matrix_norm_error(int32_t columns);

// matrix_norm_ours reports whether the RMS norm of a product, by our kernels or by
// ggml's, is computed here.
bool matrix_norm_ours(bool ours);

#ifdef __cplusplus
}
#endif
