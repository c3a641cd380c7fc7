// Units of quants in vectors of 64 bytes. It is included by the files for AVX-512 and
// AMX, so that it is compiled for their processors.
#pragma once

#include "layout.h"

#include <cstdint>
#include <immintrin.h>

namespace matrix {

namespace {

// unit is 32 columns of a panel, unpacked: quants in 8 bits, and scales.
struct unit {
    __m512i quants[vectors][groups];
    __m512 scale[vectors];
    __m512 other[vectors]; // mins, or scales of the second half of columns
};

inline __m512i load(const uint8_t * p) { return _mm512_loadu_si512(p); }
inline __m512 halves(const uint8_t * p) { return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(p))); }
inline __m512i bytes(const uint8_t * p) { return _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i *>(p))); }

inline __m512i words(const uint8_t * p) { return _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(p))); }

// with combines the bits of x and those of y that mask has.
inline __m512i with(__m512i x, __m512i y, __m512i mask) { return _mm512_ternarylogic_epi32(x, y, mask, 0xf8); }

// shift moves bits within dwords, up or down; bits that enter a byte from its
// neighbour are masked by the caller.
template <int up> inline __m512i shift(__m512i x) {
    if constexpr (up >= 0) {
        return _mm512_slli_epi32(x, up);
    } else {
        return _mm512_srli_epi32(x, -up);
    }
}

template <int group> inline __m512i nibble(__m512i pair) {
    return _mm512_and_si512(shift<group < groups / 2 ? 0 : -4>(pair), _mm512_set1_epi8(15));
}

// quants_of are the quants that 4 bits stand for.
inline __m512i quants_of(const codebook & b, __m512i nibbles) {
    const __m128i numbers = _mm_loadu_si128(reinterpret_cast<const __m128i *>(b.numbers));
    const __m128i table = _mm_add_epi8(numbers, _mm_set1_epi8(static_cast<char>(b.offset)));
    return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(table), nibbles);
}

// quants unpacks a group of columns of 16 rows. planes and nibbles are those of
// the rows.
template <const layout & l, int group> inline __m512i quants(const uint8_t * planes, const uint8_t * nibbles) {
    constexpr int above = l.above;
    if constexpr (above == 4) {
        return load(nibbles + group * 64);
    } else if constexpr (l.book != nullptr) {
        return quants_of(*l.book, nibble<group>(load(nibbles + group % 4 * 64)));
    } else {
        const __m512i q = nibble<group>(load(nibbles + group % 4 * 64));
        if constexpr (above == 1) {
            return with(q, shift<4 - group>(load(planes)), _mm512_set1_epi8(16));
        } else if constexpr (above == 2) {
            return with(q, shift<4 - group % 4 * 2>(load(planes + group / 4 * 64)), _mm512_set1_epi8(48));
        }
        return q;
    }
}

template <const layout & l, int v> inline void load_quants(const uint8_t * at, unit & u) {
    const uint8_t * planes = at + v * l.planes() / vectors;
    const uint8_t * nibbles = at + l.planes() + v * (l.unit() - l.planes()) / vectors;
    u.quants[v][0] = quants<l, 0>(planes, nibbles);
    u.quants[v][1] = quants<l, 1>(planes, nibbles);
    u.quants[v][2] = quants<l, 2>(planes, nibbles);
    u.quants[v][3] = quants<l, 3>(planes, nibbles);
    u.quants[v][4] = quants<l, 4>(planes, nibbles);
    u.quants[v][5] = quants<l, 5>(planes, nibbles);
    u.quants[v][6] = quants<l, 6>(planes, nibbles);
    u.quants[v][7] = quants<l, 7>(planes, nibbles);
}

// half_powers are half of 2^exponent, whose bias is 127. They may be subnormal.
inline __m512 half_powers(__m512i exponents) {
    const __m512i normal = _mm512_slli_epi32(_mm512_sub_epi32(exponents, _mm512_set1_epi32(1)), 23);
    const __m512i subnormal = _mm512_min_epi32(_mm512_slli_epi32(_mm512_add_epi32(exponents, _mm512_set1_epi32(1)), 21), _mm512_set1_epi32(1 << 22));
    return _mm512_castsi512_ps(_mm512_max_epi32(normal, subnormal));
}

// load_scales reads the scales of a unit from the head of its step.
template <const layout & l> inline void load_scales(const uint8_t * head, int number, int v, unit & u) {
    if constexpr (l.scales == scaling::exponent) {
        u.scale[v] = half_powers(bytes(head + v * vector_rows));
        return;
    }
    const __m512 d = halves(head + v * 32);
    if constexpr (l.scales == scaling::eight) {
        const uint8_t * scales = head + 2 * panel_rows + number * 2 * panel_rows + v * vector_rows;
        const auto factor = [&](const uint8_t * p) {
            return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i *>(p))));
        };
        u.scale[v] = _mm512_mul_ps(d, factor(scales));
        u.other[v] = _mm512_mul_ps(d, factor(scales + panel_rows));
    } else if constexpr (l.scales == scaling::six) {
        const uint8_t * scales = head + 2 * panel_rows;
        const __m512i low = _mm512_srl_epi32(load(scales + v * 64), _mm_cvtsi32_si128(4 * number));
        const __m512i high = _mm512_srl_epi32(words(scales + 4 * panel_rows + v * 32), _mm_cvtsi32_si128(2 * number));
        const __m512i scale = with(_mm512_and_si512(low, _mm512_set1_epi32(15)), shift<4>(high), _mm512_set1_epi32(48));
        u.scale[v] = _mm512_mul_ps(d, _mm512_cvtepi32_ps(_mm512_sub_epi32(scale, _mm512_set1_epi32(32))));
    } else if constexpr (l.scales == scaling::six_and_mins) {
        const uint8_t * scales = head + 4 * panel_rows;
        const __m512i low = bytes(scales + number * panel_rows + v * vector_rows);
        const __m512i high = _mm512_srl_epi32(load(scales + 8 * panel_rows + v * 64), _mm_cvtsi32_si128(4 * number));
        const __m512i scale = with(_mm512_and_si512(low, _mm512_set1_epi32(15)), shift<4>(high), _mm512_set1_epi32(48));
        const __m512i min = with(shift<-4>(low), shift<2>(high), _mm512_set1_epi32(48));
        u.scale[v] = _mm512_mul_ps(d, _mm512_cvtepi32_ps(scale));
        u.other[v] = _mm512_fnmadd_ps(halves(head + 64 + v * 32), _mm512_cvtepi32_ps(min), _mm512_setzero_ps());
    } else {
        u.scale[v] = d;
        if constexpr (l.mins()) {
            u.other[v] = halves(head + 64 + v * 32);
        }
    }
}

template <const layout & l> inline void load_unit(const uint8_t * step, int number, unit & u) {
    const uint8_t * at = step + l.head() + number * l.unit();
    load_quants<l, 0>(at, u);
    load_quants<l, 1>(at, u);
    load_scales<l>(step, number, 0, u);
    load_scales<l>(step, number, 1, u);
}

// add_scaled adds the products of a unit and a token to their sums. second are those
// of the second half of columns, if it has scales of its own.
template <const layout & l> inline __m512 add_scaled(__m512 sums, __m512i products, __m512i second, __m512 scale, __m512 other, const activation & a) {
    const __m512 product = _mm512_cvtepi32_ps(products), by = _mm512_set1_ps(a.scale);
    if constexpr (l.halved()) {
        return _mm512_fmadd_ps(_mm512_fmadd_ps(product, scale, _mm512_mul_ps(_mm512_cvtepi32_ps(second), other)), by, sums);
    }
    sums = _mm512_fmadd_ps(product, _mm512_mul_ps(scale, by), sums);
    if constexpr (l.mins()) {
        sums = _mm512_fmadd_ps(other, _mm512_set1_ps(a.sum), sums);
    }
    return sums;
}

} // namespace

} // namespace matrix
