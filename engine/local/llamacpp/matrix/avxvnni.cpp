//go:build llamacpp && amd64

#include "layout.h"

#include <algorithm> // before the target below, which set.h is under
#include <cstring>
#include <immintrin.h>
#include <utility>

// See avx512.cpp.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,f16c,fma,avxvnni"))), apply_to = function)
#elif defined(__GNUC__)
#pragma GCC target("avx2,f16c,fma,avxvnni")
#endif

#include "avx.h"

namespace matrix {

namespace {

// dot adds four products in 32 bits.
struct dot {
    template <const layout &> static constexpr bool signs() { return false; }

    template <const layout & l, int first, int last> static __m256i sum(const unit & u, const activation & a, __m256i start) {
        __m256i odd = _mm256_setzero_si256(); // a sum of its own, so that neither waits for the other
#pragma GCC unroll 8
        for (int g = first; g < last; g += 2) {
            start = _mm256_dpbusd_avx_epi32(start, u.quants[g], four(a, g));
            odd = _mm256_dpbusd_avx_epi32(odd, u.quants[g + 1], four(a, g + 1));
        }
        return _mm256_add_epi32(start, odd);
    }
};

bool runs() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("avxvnni"); }

} // namespace

const kernels avxvnni = {"AVX-VNNI", runs, quantise<set<dot>>, multiply<set<dot>>};

} // namespace matrix

#if defined(__clang__)
#pragma clang attribute pop
#endif
