// GELU, which ggml looks up in a table of 16-bit numbers, one by one. It is computed
// here where it follows a product, so that it takes as little of the time as the
// product lets it.
#pragma once

#include <cstdint>

struct ggml_compute_params;
struct ggml_tensor;

namespace matrix::gelu {

// has reports whether an operation is GELU, or GELU times a gate.
bool has(const ggml_tensor * op);

void compute(ggml_compute_params * params, ggml_tensor * op);

// row computes y from x, times gate unless that is nullptr.
void row(const float * x, const float * gate, float * y, int64_t n);

} // namespace matrix::gelu
