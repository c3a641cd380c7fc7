// RMS norms. ggml adds their squares one by one, and gives a thread other tokens than the
// sum before gave it. They are computed here where they follow a product of ours.
#pragma once

#include <cstdint>

struct ggml_compute_params;
struct ggml_tensor;

namespace matrix::norm {

// has reports whether an operation is an RMS norm.
bool has(const ggml_tensor * op);

void compute(ggml_compute_params * params, ggml_tensor * op);

// row computes y from x: x over the root of the mean of its squares and epsilon.
void row(const float * x, float * y, int64_t n, float epsilon);

} // namespace matrix::norm
