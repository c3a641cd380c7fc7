// What the kernels of all instruction sets have in common. It is included by their
// files, so that it is compiled for their processors. A set is a class with what
// differs: see floats.h for weights in 16 and 32 bits, and
//
//   - product<l>, which multiplies the quants of a layout,
//   - highest and half_unit, which quantise activations.
#pragma once

#include "floats.h"
#include "layout.h"

#include <cstring>
#include <utility>

namespace matrix {

namespace {

// quantise writes the units of a row of activations, stride apart. The plain form
// has one of its own, which this is tested against.
template <class set> void quantise(const float * x, int64_t width, activation * to, int64_t stride) {
    for (int64_t i = 0; i < width; i += unit_columns, x += unit_columns, to += stride) {
        const float most = set::highest(x);
        const float by = most < 1e-30f ? 0 : 127 / most;
        const int first = set::half_unit(x, by, to->quants), second = set::half_unit(x + unit_columns / 2, by, to->quants + unit_columns / 2);
        to->scale = most < 1e-30f ? 0 : most / 127;
        to->sum = to->scale * static_cast<float>(first + second);
        to->below = -first - second;
        to->below_first = -first;
    }
}

template <class set, const layout & l>
void multiply_by(int64_t width, const void * panel, const void * tile, int tokens, float * out, int64_t stride, int rows) {
    if constexpr (l.floats()) {
        multiply_floats<set, l.type>(width, panel, tile, tokens, out, stride, rows);
    } else {
        set::template product<l>(width, static_cast<const uint8_t *>(panel), static_cast<const activation *>(tile), tokens, out, stride, rows);
    }
}

template <class set, size_t... i>
void multiply_one(const layout & l, int64_t width, const void * panel, const void * tile, int tokens, float * out, int64_t stride, int rows, std::index_sequence<i...>) {
    (void)((&l == layouts[i] && (multiply_by<set, *layouts[i]>(width, panel, tile, tokens, out, stride, rows), true)) || ...);
}

// multiply computes the products of a panel and a tile of tokens.
template <class set>
void multiply(const layout & l, int64_t width, const void * panel, const void * tile, int tokens, float * out, int64_t stride, int rows) {
    multiply_one<set>(l, width, panel, tile, tokens, out, stride, rows, std::make_index_sequence<sizeof layouts / sizeof *layouts>());
}

// multiply_slices is product for sets whose vectors have fewer rows than 64 bytes:
// a slice of a panel is as many. For them a set also has
//
//   - slice_rows and at_once, of tokens,
//   - unit: 32 columns of a slice, unpacked by load<l>,
//   - add<l, N>, which adds the products of a unit and N tokens to their sums.
template <class set, const layout & l>
void multiply_slices(int64_t width, const uint8_t * step, const activation * tile, int tokens, float * out, int64_t stride, int rows) {
    alignas(64) float sums[tile_tokens][panel_rows];
    std::memset(sums, 0, tokens * sizeof sums[0]);
    for (const uint8_t * end = step + l.panel(width); step < end; step += l.step()) {
        for (int i = 0; i < l.units; i++, tile += tokens) {
            for (int row = 0; row < panel_rows; row += set::slice_rows) {
                typename set::unit u;
                set::template load<l>(step, i, row, u);
                int t = 0;
                for (; t + set::at_once <= tokens; t += set::at_once) {
                    set::template add<l, set::at_once>(u, tile + t, sums[t] + row);
                }
                for (; t < tokens; t++) {
                    set::template add<l, 1>(u, tile + t, sums[t] + row);
                }
            }
        }
    }
    for (int t = 0; t < tokens; t++) {
        std::memcpy(out + t * stride, sums[t], rows * sizeof(float));
    }
}

} // namespace

} // namespace matrix
