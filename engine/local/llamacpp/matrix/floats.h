// Products of weights in 16 or 32 bits, in single precision: for each instruction set
// that says how it loads, multiplies and stores.
#pragma once

#include "layout.h"

#include <algorithm>

namespace matrix {

namespace {

// add_floats computes N tokens and as many vectors of rows as stay in registers.
// A sum has one order, however many tokens there are.
template <class set, ggml_type type, int N>
inline void add_floats(const uint8_t * panel, int64_t units, const numbers * tile, int tokens, float * out, int64_t stride, int rows) {
    typename set::vec sums[N][set::vectors];
    for (int n = 0; n < N; n++) {
        for (int v = 0; v < set::vectors; v++) {
            sums[n][v] = set::broadcast(0);
        }
    }
    for (int64_t u = 0; u < units; u++, tile += tokens) {
        for (int c = 0; c < unit_columns; c++, panel += panel_rows * float_size(type)) {
            typename set::vec w[set::vectors];
            for (int v = 0; v < set::vectors; v++) {
                w[v] = set::template load<type>(panel + v * set::lanes * float_size(type));
            }
            for (int n = 0; n < N; n++) {
                const typename set::vec x = set::broadcast(tile[n].x[c]);
                for (int v = 0; v < set::vectors; v++) {
                    sums[n][v] = set::fma(w[v], x, sums[n][v]);
                }
            }
        }
    }
    for (int n = 0; n < N; n++) {
        float line[set::vectors * set::lanes];
        for (int v = 0; v < set::vectors; v++) {
            set::store(line + v * set::lanes, sums[n][v]);
        }
        std::copy_n(line, rows, out + n * stride);
    }
}

// multiply_floats computes the products of a panel and a tile of tokens.
template <class set, ggml_type type>
void multiply_floats(int64_t width, const void * panel, const void * tile, int tokens, float * out, int64_t stride, int rows) {
    constexpr int at_once = set::vectors * set::lanes;
    const numbers * x = static_cast<const numbers *>(tile);
    for (int first = 0; first < rows; first += at_once) {
        const uint8_t * p = static_cast<const uint8_t *>(panel) + first * float_size(type);
        const int count = std::min(at_once, rows - first);
        int t = 0;
        for (; t + set::tokens <= tokens; t += set::tokens) {
            add_floats<set, type, set::tokens>(p, width / unit_columns, x + t, tokens, out + t * stride + first, stride, count);
        }
        for (; t + 4 <= tokens; t += 4) {
            add_floats<set, type, 4>(p, width / unit_columns, x + t, tokens, out + t * stride + first, stride, count);
        }
        for (; t < tokens; t++) {
            add_floats<set, type, 1>(p, width / unit_columns, x + t, tokens, out + t * stride + first, stride, count);
        }
    }
}

} // namespace

} // namespace matrix
