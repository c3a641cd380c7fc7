// Products of quants by AMX.
#pragma once

#include "layout.h"

namespace matrix {

// multiply_quants computes the products of a panel and a tile of tokens, with the same
// bits as the kernels of AVX-512, which it leaves few tokens to.
void multiply_quants(const layout & l, int64_t width, const void * panel, const void * tile, int tokens, float * out, int64_t stride, int rows);

// has_tiles reports whether multiply_quants has products of a layout by AMX.
bool has_tiles(const layout & l);

} // namespace matrix
