//go:build llamacpp && amd64

#include "layout.h"

#include <algorithm> // before the target below, which set.h is under
#include <cstring>
#include <immintrin.h>
#include <utility>

// See avx512.cpp.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,f16c,fma"))), apply_to = function)
#elif defined(__GNUC__)
#pragma GCC target("avx2,f16c,fma")
#endif

#include "avx.h"

namespace matrix {

namespace {

// dot adds two products in 16 bits.
struct dot {
    // signs says that quants need all 8 bits, so that two products would not fit.
    template <const layout & l> static constexpr bool signs() { return l.largest() > 127; }

    // groups_that_fit is how many groups can be added in 16 bits: each adds two
    // products of a quant and 127 at most.
    template <const layout & l> static constexpr int groups_that_fit() {
        int fit = groups;
        while (fit > 1 && fit * 2 * l.largest() * 127 > 32767) {
            fit /= 2;
        }
        return fit;
    }

    template <const layout & l, int first, int last> static __m256i sum(const unit & u, const activation & a, __m256i start) {
        constexpr int at_once = groups_that_fit<l>() < last - first ? groups_that_fit<l>() : last - first;
#pragma GCC unroll 8
        for (int g = first; g < last; g += at_once) {
            __m256i pairs = _mm256_setzero_si256();
#pragma GCC unroll 8
            for (int i = g; i < g + at_once; i++) {
                const __m256i x = four(a, i);
                if constexpr (signs<l>()) {
                    pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(u.quants[i]), _mm256_sign_epi8(x, u.quants[i]));
                } else {
                    pairs = _mm256_add_epi16(pairs, _mm256_maddubs_epi16(u.quants[i], x));
                }
            }
            start = _mm256_add_epi32(start, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
        }
        return start;
    }
};

bool runs() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c") && __builtin_cpu_supports("fma"); }

} // namespace

const kernels avx2 = {"AVX2", runs, quantise<set<dot>>, multiply<set<dot>>};

} // namespace matrix

#if defined(__clang__)
#pragma clang attribute pop
#endif
