// What the kernels of attention have in common: vectors, fp16, and a tensor's
// parts.
#pragma once

#include "ggml.h"

#include <cstring>
#include <limits>

#if defined(__AVX512F__) || defined(__F16C__)
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
    for (; i < n; i++) {
        y[i] = ggml_fp16_to_fp32(x[i]);
    }
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
typedef float narrow __attribute__((vector_size(wide * sizeof(float)), aligned(4), may_alias));
typedef double doubles __attribute__((vector_size(wide * sizeof(double)), aligned(8), may_alias));

inline doubles widen(const float * x) {
#if defined(__AVX512F__)
    return doubles(_mm512_cvtps_pd(_mm256_loadu_ps(x)));
#elif defined(__AVX__)
    return doubles(_mm256_cvtps_pd(_mm_loadu_ps(x)));
#else
    return __builtin_convertvector(*reinterpret_cast<const narrow *>(x), doubles);
#endif
}

typedef int32_t ints __attribute__((vector_size(lanes * sizeof(int32_t)), aligned(4), may_alias));

inline vec larger(vec x, vec y) { return x > y ? x : y; }

// weight_of is the exponential of numbers up to 0, in multiples of 2^-23: sums
// of them are exact in fp64.
inline vec weight_of(vec x) {
    constexpr float least = -17; // less than half of 2^-23
    // 2^n * e^r: adding so large a number rounds to an integer.
    constexpr float large = 12582912, log2e = 1.44269504f, ln2 = 0.693359375f, ln2_rest = -2.12194440e-4f;
    const vec shifted = x * log2e + large;
    const vec n = shifted - large;
    const vec r = x - n * ln2 - n * ln2_rest;
    const vec p = (((((r * 1.9875691500e-4f + 1.3981999507e-3f) * r + 8.3334519073e-3f) * r + 4.1665795894e-2f) * r + 1.6666665459e-1f) * r + 5.0000001201e-1f) * (r * r) + r + 1;
    const ints power = (reinterpret_cast<ints>(shifted) << 23) + (127 << 23);
    const vec e = p * reinterpret_cast<vec>(power);
    return x < least ? vec{} : (e + 1) - 1;
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
