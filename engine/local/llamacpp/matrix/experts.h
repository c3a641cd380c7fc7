// Products with the matrix of an expert, which differs by token.
#pragma once

#include "layout.h"

struct ggml_compute_params;

namespace matrix::experts {

size_t work_size(const ggml_tensor * op, int threads);
void compute(ggml_compute_params * params, ggml_tensor * op);

} // namespace matrix::experts
