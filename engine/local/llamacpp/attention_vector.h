// What the kernels of attention have in common: vectors, fp16, and a tensor's
// parts.
#pragma once

#include "ggml.h"

#include <cstring>
#include <limits>
#include <type_traits>

#if defined(__SSE4_1__)
#include <immintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

// Allow fused multiply-add, which GCC does not by default with -std=c++17.
#if defined(__clang__)
#pragma clang fp contract(fast)
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=fast")
#endif

namespace {

// Floats in a vector register.
#if defined(__AVX512F__)
constexpr int lanes = 16;
#elif defined(__AVX__)
constexpr int lanes = 8;
#elif defined(__ARM_NEON)
constexpr int lanes = 4;
#else
constexpr int lanes = 4;
#endif
typedef float vec __attribute__((vector_size(lanes * sizeof(float)), aligned(4), may_alias));

// to_fp32 converts from fp16.
inline void to_fp32(const ggml_fp16_t * x, float * y, int64_t n) {
    int64_t i = 0;
#if defined(__AVX512F__)
    for (; i + 16 <= n; i += 16) {
        _mm512_storeu_ps(y + i, _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(x + i))));
    }
#elif defined(__F16C__)
    for (; i + 8 <= n; i += 8) {
        _mm256_storeu_ps(y + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i *>(x + i))));
    }
#elif defined(__ARM_NEON)
    for (; i + 4 <= n; i += 4) {
        vst1q_f32(y + i, vcvt_f32_f16(vld1_f16(reinterpret_cast<const __fp16 *>(x + i))));
    }
#endif
    for (; i < n; ++i) {
        y[i] = ggml_fp16_to_fp32(x[i]);
    }
}

// from_fp16 converts a vector.
inline vec from_fp16(const ggml_fp16_t * x) {
#if defined(__AVX512F__)
    return vec(_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(x))));
#else
    float y[lanes];
    to_fp32(x, y, lanes);
    return *reinterpret_cast<const vec *>(y);
#endif
}

// parameter reads the scale (0), the maximal ALiBi bias (1) or the logit softcap
// (2).
float parameter(const ggml_tensor * op, int number) {
    float value;
    std::memcpy(&value, op->op_params + number, sizeof value);
    return value;
}

constexpr float masked = -std::numeric_limits<float>::infinity();

constexpr int64_t padding = 32; // between threads, against false sharing

// Doubles that are added at once.
constexpr int wide = lanes == 16 ? 8 : 4;
typedef double doubles __attribute__((vector_size(wide * sizeof(double)), aligned(8), may_alias));

typedef int32_t ints __attribute__((vector_size(lanes * sizeof(int32_t)), aligned(4), may_alias));

inline vec larger(vec x, vec y) { return x > y ? x : y; }

// bits_of returns the bits that any of the integers has.
inline int32_t bits_of(ints x) {
#if defined(__AVX512F__)
    return _mm512_reduce_or_epi32(__m512i(x));
#else
    int32_t bits = 0;
    for (int i = 0; i < lanes; i++) {
        bits |= x[i];
    }
    return bits;
#endif
}

constexpr float least_weighed = -17; // its exponential is less than half of 2^-23

// weight_of is the exponential of numbers up to 0, in multiples of 2^-23: sums
// of them are exact in fp64.
inline vec weight_of(vec x) {
    // 2^n * e^r: adding so large a number rounds to an integer.
    constexpr float large = 12582912, log2e = 1.44269504f, ln2 = 0.693359375f, ln2_rest = -2.12194440e-4f;
    const vec shifted = x * log2e + large;
    const vec n = shifted - large;
    const vec r = x - n * ln2 - n * ln2_rest;
    const vec p = (((((r * 1.9875691500e-4f + 1.3981999507e-3f) * r + 8.3334519073e-3f) * r + 4.1665795894e-2f) * r + 1.6666665459e-1f) * r + 5.0000001201e-1f) * (r * r) + r + 1;
    const ints power = (reinterpret_cast<ints>(shifted) << 23) + (127 << 23);
    const vec e = p * reinterpret_cast<vec>(power);
    return x < least_weighed ? vec{} : (e + 1) - 1;
}

// Values are integers, in parts of the largest of their cell and head. (What is not
// finite becomes any integer: the weight of a masked cell is 0, and so are products.) A weight
// times that is an integer too, in parts of the largest of all cells that the row
// attends to, so that the sums of the products are exact, in any order. Products
// of 16 bits are added in 32: a weight has two parts, of 11 bits and a carry.
constexpr float value_one = 16383, weight_one = 1 << 22;
constexpr int weight_low = 11;
constexpr int exact_cells = 64; // whose products with values fit: 64 * 2^11 * value_one < 2^31

// halves are the bits of numbers in fp16. Those of magnitudes are ordered like these.
constexpr int half_lanes = lanes == 4 ? 8 : 2 * lanes;
typedef uint16_t halves __attribute__((vector_size(half_lanes * sizeof(uint16_t)), aligned(2), may_alias));

// any reports whether any bit is set.
inline bool any(halves x) {
#if defined(__AVX512F__) && defined(__AVX512BW__)
    return _mm512_test_epi32_mask(__m512i(x), __m512i(x)) != 0;
#elif defined(__AVX2__) && !defined(__AVX512F__)
    return _mm256_testz_si256(__m256i(x), __m256i(x)) == 0;
#elif defined(__ARM_NEON)
    return vmaxvq_u16(uint16x8_t(x)) != 0;
#else
    int bits = 0;
    for (int i = 0; i < half_lanes; i++) {
        bits |= x[i];
    }
    return bits != 0;
#endif
}

inline ggml_fp16_t highest_of(halves x) {
#if defined(__AVX2__)
#if defined(__AVX512BW__)
    const __m256i y = _mm256_max_epu16(_mm512_castsi512_si256(__m512i(x)), _mm512_extracti64x4_epi64(__m512i(x), 1));
#else
    const __m256i y = __m256i(x);
#endif
    const __m128i z = _mm_max_epu16(_mm256_castsi256_si128(y), _mm256_extracti128_si256(y, 1));
    // There is an instruction for the lowest.
    return ~_mm_extract_epi16(_mm_minpos_epu16(_mm_xor_si128(z, _mm_set1_epi32(-1))), 0);
#elif defined(__ARM_NEON)
    return vmaxvq_u16(uint16x8_t(x));
#else
    ggml_fp16_t most = 0;
    for (int i = 0; i < half_lanes; i++) {
        most = x[i] > most ? x[i] : most;
    }
    return most;
#endif
}

// largest_of returns the largest magnitude of numbers, of those that are finite.
inline ggml_fp16_t largest_of(const ggml_fp16_t * x, int64_t n) {
    constexpr uint16_t magnitude = 0x7fff, finite = 0x7bff;
    halves most = {};
    const auto count = [&](halves bits) {
        bits &= magnitude;
        bits = bits > finite ? halves{} : bits;
        most = bits > most ? bits : most;
    };
    int64_t i = 0;
    for (; i + half_lanes <= n; i += half_lanes) {
        count(*reinterpret_cast<const halves *>(x + i));
    }
    if (i < n) {
        halves rest = {};
        std::memcpy(&rest, x + i, (n - i) * sizeof *x);
        count(rest);
    }
    return highest_of(most);
}

// whole rounds numbers of less than 2^22 to integers. The bits of the sum are
// those of the integer, after the bits of the number that is added.
constexpr int32_t whole_zero = 0x4b400000;
inline ints whole(vec x, vec by) {
    constexpr float large = 12582912;
    return reinterpret_cast<ints>(x * by + large);
}

// scale_of is what numbers are multiplied by, so that the largest becomes one.
inline vec scale_of(vec largest, float one) { return largest == 0 ? vec{} : one / largest; }

// pair makes the low halves of dwords the halves of one.
inline ints pair(ints x, ints y) { return (x & 0xffff) | y << 16; }

inline ints whole_weight(vec weight, vec scale) { return whole(weight, scale) - whole_zero; }

// pairs are two integers in each dword, of neighbouring cells.
struct pairs {
    ints high, low;

    pairs(ints x, ints y)
        : high(pair(x >> weight_low, y >> weight_low)), low(pair(x & ((1 << weight_low) - 1), y & ((1 << weight_low) - 1))) {}
};

// multiply_pairs adds the products of the halves of dwords to sum.
inline ints multiply_pairs(ints sum, ints x, ints y) {
#if defined(__AVX512VNNI__)
    return ints(_mm512_dpwssd_epi32(__m512i(sum), __m512i(x), __m512i(y)));
#elif defined(__AVX512BW__)
    return sum + ints(_mm512_madd_epi16(__m512i(x), __m512i(y)));
#elif defined(__AVX2__) && !defined(__AVX512F__)
    return sum + ints(_mm256_madd_epi16(__m256i(x), __m256i(y)));
#elif defined(__ARM_NEON)
    const int16x8_t a = vreinterpretq_s16_s32(int32x4_t(x)), b = vreinterpretq_s16_s32(int32x4_t(y));
    return sum + ints(vpaddq_s32(vmull_s16(vget_low_s16(a), vget_low_s16(b)), vmull_high_s16(a, b)));
#else
    return sum + (x << 16 >> 16) * (y << 16 >> 16) + (x >> 16) * (y >> 16);
#endif
}

// add_exactly adds sums of products to lanes doubles, high ones times 2^bits, and
// both times a power of two.
template <int bits, int times = 1> inline void add_exactly(ints high, ints low, double * to) {
    constexpr double above = double(times) * (1 << bits);
#if defined(__AVX512F__)
    doubles * sum = reinterpret_cast<doubles *>(to);
    const auto half = [](ints x, auto number) { return doubles(_mm512_cvtepi32_pd(_mm512_extracti64x4_epi64(__m512i(x), number))); };
    sum[0] += half(high, std::integral_constant<int, 0>()) * above + half(low, std::integral_constant<int, 0>()) * double(times);
    sum[1] += half(high, std::integral_constant<int, 1>()) * above + half(low, std::integral_constant<int, 1>()) * double(times);
#else
    for (int i = 0; i < lanes; i++) {
        to[i] += high[i] * above + low[i] * double(times);
    }
#endif
}

// A sum of weights counts these.
constexpr double weight_unit = 0x1p-23;

// whole_weights is what weights count.
inline ints whole_weights(vec x) { return reinterpret_cast<ints>(x + 1) - reinterpret_cast<ints>(vec{} + 1); }

// result_scale turns a row's sums into its result.
inline double result_scale(float largest, double total) {
    constexpr double one = double(value_one) * weight_one;
    return total == 0 ? 0 : largest / one / (total * weight_unit);
}

template <typename T>
const T * at(const ggml_tensor * t, int64_t i1, int64_t i2, int64_t i3) {
    return reinterpret_cast<const T *>(static_cast<const char *>(t->data) + i1 * t->nb[1] + i2 * t->nb[2] + i3 * t->nb[3]);
}

// prefetch helps the CPU, which does not predict the stride between cells.
inline void prefetch(const ggml_fp16_t * x, int64_t n) {
    for (int64_t i = 0; i < n; i += 32) {
        __builtin_prefetch(x + i);
    }
}

} // namespace
