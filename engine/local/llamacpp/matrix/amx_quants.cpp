//go:build llamacpp && amd64

#include "amx_quants.h"
#include "amx_tile.h"

#include <algorithm>
#include <cstring>
#include <immintrin.h>
#include <utility>

// See avx512.cpp.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,f16c,fma"))), apply_to = function)
#elif defined(__GNUC__)
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,f16c,fma")
#endif

#include "avx512.h"

namespace matrix {

namespace {

constexpr int tile_rows = 16; // tokens of a tile
constexpr int block_units = 8;

// Whole products of a unit and 16 tokens are stored, scaled, and added to sums in
// single precision, which stay in registers for a block of units.
template <const layout & l> struct product {
    int64_t units;
    const activation * activations;
    int tokens;

    unit block[block_units]; // with signed quants
    __m512i results[2][tile_rows];
    __m512 sums[tile_tokens / tile_rows][vectors][tile_rows];

    product(int64_t width, const void * tile, int tokens) : units(width / unit_columns), activations(static_cast<const activation *>(tile)), tokens(tokens) {}

    int count() const { return (tokens + tile_rows - 1) / tile_rows; }

    // The tokens of the last tile may be in the one before, too.
    int first_of(int tile) const { return std::min(tile * tile_rows, tokens - tile_rows); }

    void unpack(const uint8_t * panel, int64_t u) {
        unit & to = block[u % block_units];
        load_unit<l>(panel + u / l.units * l.step(), static_cast<int>(u % l.units), to);
        for (int v = 0; v < vectors; v++) {
            for (int g = 0; g < groups; g++) {
                to.quants[v][g] = _mm512_sub_epi8(to.quants[v][g], _mm512_set1_epi8(static_cast<char>(l.offset)));
            }
        }
    }

    template <int v> void multiply(const activation * a, int64_t u) {
        amx_tile::load<4>(a->quants, sizeof *a);
        amx_tile::load<6>(block[u % block_units].quants[v], 64);
        amx_tile::zero<0>();
        amx_tile::multiply_ss<0, 4, 6>();
        amx_tile::store<0>(results[u % 2], 64);
    }

    // add adds the products of units first to last. Those of the next unit are computed
    // while those of one are added.
    template <int v> void add(int64_t first, int64_t last, int tile) {
        __m512 s[tile_rows];
#pragma GCC unroll 16
        for (int m = 0; m < tile_rows; m++) {
            s[m] = first == 0 ? _mm512_setzero_ps() : sums[tile][v][m];
        }
        const activation * a = activations + first * tokens + first_of(tile);
        multiply<v>(a, first);
        for (int64_t u = first; u < last; u++, a += tokens) {
            if (u + 1 < last) {
                multiply<v>(a + tokens, u + 1);
            }
            const unit & w = block[u % block_units];
#pragma GCC unroll 16
            for (int m = 0; m < tile_rows; m++) {
                const __m512i whole = results[u % 2][m];
                s[m] = add_scaled<l>(s[m], whole, whole, w.scale[v], w.other[v], a[m]);
            }
        }
#pragma GCC unroll 16
        for (int m = 0; m < tile_rows; m++) {
            sums[tile][v][m] = s[m];
        }
    }

    void compute(const uint8_t * panel) {
        const amx_tile::registers registers(tile_rows, 0, unit_columns);
        for (int64_t first = 0; first < units; first += block_units) {
            const int64_t last = std::min(first + block_units, units);
            for (int64_t u = first; u < last; u++) {
                unpack(panel, u);
            }
            for (int t = 0; t < count(); t++) {
                add<0>(first, last, t);
                add<1>(first, last, t);
            }
        }
    }

    void write(float * out, int64_t stride, int rows) const {
        for (int t = 0; t < count(); t++) {
            for (int m = 0; m < tile_rows; m++) {
                for (int v = 0; v < vectors; v++) {
                    const int some = std::clamp(rows - v * vector_rows, 0, vector_rows);
                    _mm512_mask_storeu_ps(out + (first_of(t) + m) * stride + v * vector_rows, static_cast<__mmask16>((1u << some) - 1), sums[t][v][m]);
                }
            }
        }
    }
};

template <const layout & l>
void multiply(int64_t width, const void * panel, const void * tile, int tokens, float * out, int64_t stride, int rows) {
    product<l> p(width, tile, tokens);
    p.compute(static_cast<const uint8_t *>(panel));
    p.write(out, stride, rows);
}

// wins reports whether tiles are faster. Halves of units with scales of their own
// fill half of a tile, and there are twice as many sums to scale.
constexpr bool wins(const layout & l) { return !l.floats() && !l.halved(); }

// fill reports whether tokens fill tiles: at least 7 of 8 places, and more than one.
bool fill(int tokens) {
    const int places = (tokens + tile_rows - 1) / tile_rows * tile_rows;
    return places > tile_rows && 8 * tokens >= 7 * places;
}

template <size_t i> bool multiply_if(const layout & l, int64_t width, const void * panel, const void * tile, int tokens, float * out, int64_t stride, int rows) {
    if constexpr (wins(*layouts[i])) {
        if (&l == layouts[i]) {
            multiply<*layouts[i]>(width, panel, tile, tokens, out, stride, rows);
            return true;
        }
    }
    return false;
}

template <size_t... i>
bool multiply_one(const layout & l, int64_t width, const void * panel, const void * tile, int tokens, float * out, int64_t stride, int rows, std::index_sequence<i...>) {
    return (multiply_if<i>(l, width, panel, tile, tokens, out, stride, rows) || ...);
}

} // namespace

bool has_tiles(const layout & l) { return wins(l); }

void multiply_quants(const layout & l, int64_t width, const void * panel, const void * tile, int tokens, float * out, int64_t stride, int rows) {
    constexpr auto all = std::make_index_sequence<sizeof layouts / sizeof *layouts>();
    if (!fill(tokens) || !multiply_one(l, width, panel, tile, tokens, out, stride, rows, all)) {
        avx512.multiply(l, width, panel, tile, tokens, out, stride, rows);
    }
}

} // namespace matrix

#if defined(__clang__)
#pragma clang attribute pop
#endif
