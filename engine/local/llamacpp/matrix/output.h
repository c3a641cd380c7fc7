// The output layer where only some of its rows are wanted: a grammar that leaves few
// tokens makes the others useless.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// matrix_want says which rows of the output layer are wanted of each token, until
// matrix_want_all: those of token i are rows[behind[i-1]] to rows[behind[i]-1], in
// order; none: all. Of other rows the result may be minus infinity.
//
// Only one computation may run meanwhile.
void matrix_want(int32_t tokens, const int32_t * behind, const int32_t * rows);
void matrix_want_all(void);

#ifdef __cplusplus
}

struct ggml_compute_params;
struct ggml_tensor;

namespace matrix {

namespace output {

// wants reports whether only some rows of an operation are wanted.
bool wants(const ggml_tensor * op);

// compute computes these. Results have the same bits as with all rows.
void compute(ggml_compute_params * params, ggml_tensor * op);

} // namespace output

} // namespace matrix
#endif
