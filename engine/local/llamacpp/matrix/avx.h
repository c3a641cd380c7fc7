// What kernels with vectors of 256 bits have in common. They differ in how they
// multiply quants: a class dot has
//
//   - signs<l>, which says that quants shall be less their offset,
//   - sum<l, first, last>, which adds the products of groups first to last to start,
//     four columns in each lane.
#pragma once

#include "set.h"

#include <immintrin.h>

namespace matrix {

namespace {

// unit is 32 columns of 8 rows, unpacked: of half of each vector of 64 bytes.
struct unit {
    __m256i quants[groups];
    __m256 scale;
    __m256 other; // mins, or scales of the second half of columns
};

inline __m256i load(const uint8_t * p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i *>(p)); }
inline __m128i load_half(const uint8_t * p) { return _mm_loadu_si128(reinterpret_cast<const __m128i *>(p)); }
inline __m128i load_quarter(const uint8_t * p) { return _mm_loadl_epi64(reinterpret_cast<const __m128i *>(p)); }
inline __m256 halves(const uint8_t * p) { return _mm256_cvtph_ps(load_half(p)); }

// with combines x with those bits of y that mask has.
inline __m256i with(__m256i x, __m256i y, __m256i mask) { return _mm256_or_si256(x, _mm256_and_si256(y, mask)); }

template <int up> inline __m256i shift(__m256i x) {
    if constexpr (up >= 0) {
        return _mm256_slli_epi32(x, up);
    } else {
        return _mm256_srli_epi32(x, -up);
    }
}

// quants_of are the quants that 4 bits stand for.
template <class dot, const layout & l> inline __m256i quants_of(__m256i nibbles) {
    const __m128i numbers = load_half(reinterpret_cast<const uint8_t *>(l.book->numbers));
    const __m128i table = _mm_add_epi8(numbers, _mm_set1_epi8(dot::template signs<l>() ? 0 : l.offset));
    return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(table), nibbles);
}

template <class dot, const layout & l, int group> inline __m256i quants(const uint8_t * planes, const uint8_t * nibbles) {
    constexpr int above = l.above;
    if constexpr (above == 4) {
        const __m256i q = load(nibbles + group * 64);
        return dot::template signs<l>() ? _mm256_xor_si256(q, _mm256_set1_epi8(-128)) : q;
    } else {
        const __m256i q = _mm256_and_si256(shift<group < groups / 2 ? 0 : -4>(load(nibbles + group % 4 * 64)), _mm256_set1_epi8(15));
        if constexpr (l.book != nullptr) {
            return quants_of<dot, l>(q);
        } else if constexpr (above == 1) {
            return with(q, shift<4 - group>(load(planes)), _mm256_set1_epi8(16));
        } else if constexpr (above == 2) {
            return with(q, shift<4 - group % 4 * 2>(load(planes + group / 4 * 64)), _mm256_set1_epi8(48));
        }
        return q;
    }
}

template <class dot, const layout & l> inline void load_quants(const uint8_t * at, int row, unit & u) {
    const int v = row / vector_rows, half = row % vector_rows * 4;
    const uint8_t * planes = at + v * l.planes() / vectors + half;
    const uint8_t * nibbles = at + l.planes() + v * (l.unit() - l.planes()) / vectors + half;
    u.quants[0] = quants<dot, l, 0>(planes, nibbles);
    u.quants[1] = quants<dot, l, 1>(planes, nibbles);
    u.quants[2] = quants<dot, l, 2>(planes, nibbles);
    u.quants[3] = quants<dot, l, 3>(planes, nibbles);
    u.quants[4] = quants<dot, l, 4>(planes, nibbles);
    u.quants[5] = quants<dot, l, 5>(planes, nibbles);
    u.quants[6] = quants<dot, l, 6>(planes, nibbles);
    u.quants[7] = quants<dot, l, 7>(planes, nibbles);
}

// half_powers are half of 2^exponent, whose bias is 127. They may be subnormal.
inline __m256 half_powers(__m256i exponents) {
    const __m256i normal = _mm256_slli_epi32(_mm256_sub_epi32(exponents, _mm256_set1_epi32(1)), 23);
    const __m256i subnormal = _mm256_min_epi32(_mm256_slli_epi32(_mm256_add_epi32(exponents, _mm256_set1_epi32(1)), 21), _mm256_set1_epi32(1 << 22));
    return _mm256_castsi256_ps(_mm256_max_epi32(normal, subnormal));
}

// load_scales reads the scales of a unit from the head of its step.
template <const layout & l> inline void load_scales(const uint8_t * head, int number, int row, unit & u) {
    if constexpr (l.scales == scaling::exponent) {
        u.scale = half_powers(_mm256_cvtepu8_epi32(load_quarter(head + row)));
        return;
    }
    const __m256 d = halves(head + row * 2);
    if constexpr (l.scales == scaling::eight) {
        const uint8_t * scales = head + 2 * panel_rows + number * 2 * panel_rows + row;
        u.scale = _mm256_mul_ps(d, _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(load_quarter(scales))));
        u.other = _mm256_mul_ps(d, _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(load_quarter(scales + panel_rows))));
    } else if constexpr (l.scales == scaling::six) {
        const uint8_t * scales = head + 2 * panel_rows;
        const __m256i low = _mm256_srl_epi32(load(scales + row * 4), _mm_cvtsi32_si128(4 * number));
        const __m256i high = _mm256_srl_epi32(_mm256_cvtepu16_epi32(load_half(scales + 4 * panel_rows + row * 2)), _mm_cvtsi32_si128(2 * number));
        const __m256i scale = with(_mm256_and_si256(low, _mm256_set1_epi32(15)), shift<4>(high), _mm256_set1_epi32(48));
        u.scale = _mm256_mul_ps(d, _mm256_cvtepi32_ps(_mm256_sub_epi32(scale, _mm256_set1_epi32(32))));
    } else if constexpr (l.scales == scaling::six_and_mins) {
        const uint8_t * scales = head + 4 * panel_rows;
        const __m256i low = _mm256_cvtepu8_epi32(load_quarter(scales + number * panel_rows + row));
        const __m256i high = _mm256_srl_epi32(load(scales + 8 * panel_rows + row * 4), _mm_cvtsi32_si128(4 * number));
        const __m256i scale = with(_mm256_and_si256(low, _mm256_set1_epi32(15)), shift<4>(high), _mm256_set1_epi32(48));
        const __m256i min = with(shift<-4>(low), shift<2>(high), _mm256_set1_epi32(48));
        u.scale = _mm256_mul_ps(d, _mm256_cvtepi32_ps(scale));
        u.other = _mm256_fnmadd_ps(halves(head + 2 * panel_rows + row * 2), _mm256_cvtepi32_ps(min), _mm256_setzero_ps());
    } else {
        u.scale = d;
        if constexpr (l.mins()) {
            u.other = halves(head + 2 * panel_rows + row * 2);
        }
    }
}

inline __m256i four(const activation & a, int group) {
    int32_t columns;
    std::memcpy(&columns, a.quants + group * 4, sizeof columns);
    return _mm256_set1_epi32(columns);
}

inline __m256i times_offset(int32_t below, int offset) { return _mm256_set1_epi32(below * offset); }

// add adds the products of a unit and a token to its sums.
template <class dot, const layout & l> inline __m256 add(const unit & u, const activation & a, __m256 sums) {
    const __m256 scale = _mm256_set1_ps(a.scale);
    if constexpr (l.halved()) {
        const __m256i first = dot::template sum<l, 0, groups / 2>(u, a, times_offset(a.below_first, l.offset));
        const __m256i second = dot::template sum<l, groups / 2, groups>(u, a, times_offset(a.below - a.below_first, l.offset));
        const __m256 both = _mm256_fmadd_ps(_mm256_cvtepi32_ps(first), u.scale, _mm256_mul_ps(_mm256_cvtepi32_ps(second), u.other));
        return _mm256_fmadd_ps(both, scale, sums);
    }
    constexpr bool shifted = l.offset != 0 && !dot::template signs<l>();
    const __m256i product = dot::template sum<l, 0, groups>(u, a, shifted ? times_offset(a.below, l.offset) : _mm256_setzero_si256());
    sums = _mm256_fmadd_ps(_mm256_cvtepi32_ps(product), _mm256_mul_ps(u.scale, scale), sums);
    if constexpr (l.mins()) {
        sums = _mm256_fmadd_ps(u.other, _mm256_set1_ps(a.sum), sums);
    }
    return sums;
}

inline int sum_of(__m256i x) {
    __m128i half = _mm_add_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
    half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0x4e));
    half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0xb1));
    return _mm_cvtsi128_si32(half);
}

// set is an instruction set, see set.h.
template <class dot> struct set {
    typedef matrix::unit unit;
    static constexpr int slice_rows = 8, at_once = 1;

    template <const layout & l> static void load(const uint8_t * step, int number, int row, unit & u) {
        load_quants<dot, l>(step + l.head() + number * l.unit(), row, u);
        load_scales<l>(step, number, row, u);
    }

    template <const layout & l, int> static void add(const unit & u, const activation * a, float * sums) {
        _mm256_store_ps(sums, matrix::add<dot, l>(u, *a, _mm256_load_ps(sums)));
    }

    template <const layout & l>
    static void product(int64_t width, const uint8_t * panel, const activation * tile, int tokens, float * out, int64_t stride, int rows) {
        multiply_slices<set, l>(width, panel, tile, tokens, out, stride, rows);
    }

    // highest is the highest absolute value of 32 numbers, and NaN if one is NaN:
    // without the sign, the bits of floats are ordered like the numbers, and NaN is
    // the largest.
    static float highest(const float * x) {
        const __m256i magnitude = _mm256_set1_epi32(0x7fffffff);
        __m256i most = _mm256_setzero_si256();
        for (int i = 0; i < unit_columns; i += 8) {
            most = _mm256_max_epi32(most, _mm256_and_si256(_mm256_castps_si256(_mm256_loadu_ps(x + i)), magnitude));
        }
        __m128i half = _mm_max_epi32(_mm256_castsi256_si128(most), _mm256_extracti128_si256(most, 1));
        half = _mm_max_epi32(half, _mm_shuffle_epi32(half, 0x4e));
        half = _mm_max_epi32(half, _mm_shuffle_epi32(half, 0xb1));
        return _mm_cvtss_f32(_mm_castsi128_ps(half));
    }

    // half_unit quantises 16 numbers and returns their sum.
    static int half_unit(const float * x, float by, int8_t * to) {
        const __m256i low = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x), _mm256_set1_ps(by)));
        const __m256i high = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x + 8), _mm256_set1_ps(by)));
        const __m256i words = _mm256_permute4x64_epi64(_mm256_packs_epi32(low, high), 0xd8);
        _mm_storeu_si128(reinterpret_cast<__m128i *>(to), _mm_packs_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1)));
        return sum_of(_mm256_add_epi32(low, high));
    }

    // Weights in 16 and 32 bits, see floats.h.
    typedef __m256 vec;
    static constexpr int lanes = 8, vectors = 2, tokens = 6;

    template <ggml_type type> static vec load(const uint8_t * p) {
        if constexpr (type == GGML_TYPE_F16) {
            return halves(p);
        } else if constexpr (type == GGML_TYPE_F32) {
            return _mm256_loadu_ps(reinterpret_cast<const float *>(p));
        }
        return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(load_half(p)), 16));
    }
    static vec broadcast(float x) { return _mm256_set1_ps(x); }
    static vec fma(vec x, vec y, vec z) { return _mm256_fmadd_ps(x, y, z); }
    static void store(float * to, vec x) { _mm256_storeu_ps(to, x); }
};

} // namespace

} // namespace matrix
