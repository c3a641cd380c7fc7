// Weights in fp16 by products of integers in 16 bits, twice as many of which an
// instruction computes as of single precision. It is included by avx512.cpp.
//
// The 32 columns of a unit have a scale for each row of weights and for each token. The
// root of the sum of squares is at most 2^15 of weights and 2^16 of activations: then no
// sum of products needs more than 31 bits, by the inequality of Cauchy and Schwarz. Each
// rounding moves a vector of 32 by about 2^-14 of its length, less than rounding to fp16
// does, which ggml does to activations.
//
// The sum of a unit is exact, so a token gets the same alone as among others.
//
// Making integers of weights takes longer than products of one token do. So this is for
// models that read whole texts, see layout_of.
#pragma once

#include "layout.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <immintrin.h>

namespace matrix {

namespace {

// integers are 32 numbers of one token.
struct integers {
    int16_t x[unit_columns];
    float scale;
};

static_assert(sizeof(integers) <= sizeof(numbers));

inline const integers & integers_of(const numbers & n) { return reinterpret_cast<const integers &>(n); }

// Roots that leave room for what rounding adds.
constexpr float most_of_weights = 32760, most_of_numbers = 65532;

// highest is the highest absolute value of 32 numbers, and NaN if one is NaN:
// without the sign, the bits of floats are ordered like the numbers, and NaN is
// the largest.
inline float highest(const float * x) {
    const __m512i magnitude = _mm512_set1_epi32(0x7fffffff);
    const __m512i most = _mm512_max_epi32(_mm512_and_si512(_mm512_loadu_si512(x), magnitude), _mm512_and_si512(_mm512_loadu_si512(x + 16), magnitude));
    return _mm_cvtss_f32(_mm_castsi128_ps(_mm_cvtsi32_si128(_mm512_reduce_max_epi32(most))));
}

// put_integers writes 32 numbers, of which most is the highest absolute value.
inline void put_integers(const float * x, float most, integers & to) {
    if (!std::isfinite(most) || most < 1e-30f) {
        std::memset(to.x, 0, sizeof to.x);
        to.scale = most - most; // NaN, or 0
        return;
    }
    const __m512 by = _mm512_set1_ps(1 / most);
    const __m512 first = _mm512_mul_ps(_mm512_loadu_ps(x), by), second = _mm512_mul_ps(_mm512_loadu_ps(x + 16), by);
    const float root = std::sqrt(_mm512_reduce_add_ps(_mm512_fmadd_ps(first, first, _mm512_mul_ps(second, second))));
    const float limit = std::min<float>(INT16_MAX, most_of_numbers / root);
    const __m512 scale = _mm512_set1_ps(limit);
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(to.x), _mm512_cvtsepi32_epi16(_mm512_cvtps_epi32(_mm512_mul_ps(first, scale))));
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(to.x + 16), _mm512_cvtsepi32_epi16(_mm512_cvtps_epi32(_mm512_mul_ps(second, scale))));
    to.scale = most / limit;
}

void keep_integers(const float * x, int64_t width, numbers * to, int64_t stride) {
    for (int64_t i = 0; i < width; i += unit_columns, to += stride) {
        put_integers(x + i, highest(x + i), reinterpret_cast<integers &>(*to));
    }
}

constexpr int pairs = unit_columns / 2; // a dword is two columns of a row

// integer_unit is 32 columns of a panel.
struct integer_unit {
    __m512i x[pairs][vectors];
    __m512 scale[vectors];
};

// scaled_unit is 32 columns of a panel in single precision, and what makes them integers.
struct scaled_unit {
    __m512 x[unit_columns][vectors];
    __m512 by[vectors], scale[vectors];

    explicit scaled_unit(const uint8_t * from) {
        constexpr int apart = 4, ahead = 4096;
        __m512 squares[apart][vectors];
#pragma GCC unroll 4
        for (int i = 0; i < apart; i++) {
            squares[i][0] = squares[i][1] = _mm512_setzero_ps();
        }
#pragma GCC unroll 1
        for (int c = 0; c < unit_columns; c += apart) {
#pragma GCC unroll 4
            for (int i = 0; i < apart; i++, from += panel_rows * 2) {
                _mm_prefetch(reinterpret_cast<const char *>(from) + ahead, _MM_HINT_T0);
#pragma GCC unroll 2
                for (int v = 0; v < vectors; v++) {
                    const __m512 w = x[c + i][v] = halves(from + v * vector_rows * 2);
                    squares[i][v] = _mm512_fmadd_ps(w, w, squares[i][v]);
                }
            }
        }
        for (int v = 0; v < vectors; v++) {
            const __m512 all = _mm512_add_ps(_mm512_add_ps(squares[0][v], squares[1][v]), _mm512_add_ps(squares[2][v], squares[3][v]));
            const __m512 least = _mm512_set1_ps(1e-20f); // far below the smallest square. NaN stays NaN
            by[v] = _mm512_mul_ps(_mm512_rsqrt14_ps(_mm512_max_ps(least, all)), _mm512_set1_ps(most_of_weights));
            scale[v] = _mm512_div_ps(_mm512_set1_ps(1), by[v]);
        }
    }

    // integers are two columns.
    __m512i integers(int pair, int v) const {
        const __m512 round = _mm512_set1_ps(12582912); // the lower bits of a sum with it are an integer
        const __m512i low = _mm512_castps_si512(_mm512_fmadd_ps(x[2 * pair][v], by[v], round));
        const __m512i high = _mm512_castps_si512(_mm512_fmadd_ps(x[2 * pair + 1][v], by[v], round));
        return _mm512_mask_blend_epi16(0xaaaaaaaa, low, _mm512_slli_epi32(high, 16));
    }
};

// put_integers makes a unit integers.
inline void put_integers(const scaled_unit & from, integer_unit & to) {
#pragma GCC unroll 4
    for (int p = 0; p < pairs; p++) {
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++) {
            to.x[p][v] = from.integers(p, v);
        }
    }
    to.scale[0] = from.scale[0];
    to.scale[1] = from.scale[1];
}

inline __m512i pair_of(const integers & a, int p) {
    int32_t columns;
    std::memcpy(&columns, a.x + 2 * p, sizeof columns);
    return _mm512_set1_epi32(columns);
}

// add adds the products of a unit and N tokens to their sums.
template <int N> inline void add(const integer_unit & u, const numbers * tile, __m512 (*sums)[vectors]) {
    __m512i products[N][vectors];
#pragma GCC unroll 8
    for (int n = 0; n < N; n++) {
        products[n][0] = products[n][1] = _mm512_setzero_si512();
    }
#pragma GCC unroll 4 // more of them need more registers than there are
    for (int p = 0; p < pairs; p++) {
#pragma GCC unroll 8
        for (int n = 0; n < N; n++) {
            const __m512i x = pair_of(integers_of(tile[n]), p);
            products[n][0] = _mm512_dpwssd_epi32(products[n][0], u.x[p][0], x);
            products[n][1] = _mm512_dpwssd_epi32(products[n][1], u.x[p][1], x);
        }
    }
#pragma GCC unroll 8
    for (int n = 0; n < N; n++) {
        const __m512 scale = _mm512_set1_ps(integers_of(tile[n]).scale);
        for (int v = 0; v < vectors; v++) {
            sums[n][v] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(products[n][v]), _mm512_mul_ps(u.scale[v], scale), sums[n][v]);
        }
    }
}

// multiply_integers computes the products of a panel and a tile of tokens.
void multiply_integers(int64_t width, const void * panel, const void * tile, int tokens, float * out, int64_t stride, int rows) {
    __m512 sums[tile_tokens][vectors];
    std::memset(sums, 0, tokens * sizeof sums[0]);
    const uint8_t * from = static_cast<const uint8_t *>(panel);
    const numbers * x = static_cast<const numbers *>(tile);
    for (int64_t i = 0; i < width; i += unit_columns, from += unit_columns * panel_rows * 2, x += tokens) {
        integer_unit u;
        put_integers(scaled_unit(from), u);
        int t = 0;
        for (; t + 8 <= tokens; t += 8) {
            add<8>(u, x + t, sums + t);
        }
        for (; t + 4 <= tokens; t += 4) {
            add<4>(u, x + t, sums + t);
        }
        for (; t < tokens; t++) {
            add<1>(u, x + t, sums + t);
        }
    }
    for (int t = 0; t < tokens; t++) {
        store(sums[t], out + t * stride, rows);
    }
}

} // namespace

} // namespace matrix
