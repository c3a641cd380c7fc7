// Products of quants by AMX.
#pragma once

#include "layout.h"

namespace matrix {

// multiply_quants computes the products of a panel and a tile of tokens, with the same
// bits as the kernels of AVX-512, which it leaves few tokens to.
void multiply_quants(const layout & l, int64_t width, const void * panel, const void * tile, int tokens, float * out, int64_t stride, int rows);

} // namespace matrix
