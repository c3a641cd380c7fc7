//go:build llamacpp && arm64

#include "layout.h"

#include <algorithm> // before the target below, which set.h is under
#include <arm_neon.h>
#include <cstring>
#include <utility>
#if defined(__linux__)
#include <sys/auxv.h>
#endif
#if defined(__APPLE__)
#include <sys/sysctl.h>
#endif

// See avx512.cpp.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("dotprod,i8mm"))), apply_to = function)
#elif defined(__GNUC__) && !defined(__ARM_FEATURE_MATMUL_INT8)
#pragma GCC target("arch=armv8.2-a+dotprod+i8mm") // see neon.cpp
#endif

#include "neon.h"

namespace matrix {

namespace {

// dot multiplies two rows by two tokens, eight columns at a time.
struct dot {
    static constexpr int at_once = 2;

    // arrange puts eight columns of a row side by side: of rows 0 and 1, then of 2 and 3.
    static void arrange(int8x16_t * quants) {
        for (int g = 0; g < groups; g += 2) {
            const int32x4_t x = vreinterpretq_s32_s8(quants[g]), y = vreinterpretq_s32_s8(quants[g + 1]);
            quants[g] = vreinterpretq_s8_s32(vzip1q_s32(x, y));
            quants[g + 1] = vreinterpretq_s8_s32(vzip2q_s32(x, y));
        }
    }

    template <int first, int last> static void add(const int8x16_t * quants, const activation * a, int32x4_t (&products)[2]) {
        int32x4_t low = vdupq_n_s32(0), high = vdupq_n_s32(0); // of a row: the first token, then the second
        for (int g = first; g < last; g += 4) {
            const int64x2_t x = vreinterpretq_s64_s8(vld1q_s8(a[0].quants + g * 4)), y = vreinterpretq_s64_s8(vld1q_s8(a[1].quants + g * 4));
            const int8x16_t eight = vreinterpretq_s8_s64(vzip1q_s64(x, y)), next = vreinterpretq_s8_s64(vzip2q_s64(x, y));
            low = vmmlaq_s32(low, quants[g], eight);
            high = vmmlaq_s32(high, quants[g + 1], eight);
            low = vmmlaq_s32(low, quants[g + 2], next);
            high = vmmlaq_s32(high, quants[g + 3], next);
        }
        products[0] = vaddq_s32(products[0], vuzp1q_s32(low, high));
        products[1] = vaddq_s32(products[1], vuzp2q_s32(low, high));
    }

    template <int first, int last> static void add(const int8x16_t * quants, const activation * a, int32x4_t (&products)[1]) {
        int32x4_t low = vdupq_n_s32(0), high = vdupq_n_s32(0); // of a row: four columns, then the other four
        for (int g = first; g < last; g += 2) {
            const int8x8_t x = vld1_s8(a->quants + g * 4);
            low = vdotq_s32(low, quants[g], vcombine_s8(x, x));
            high = vdotq_s32(high, quants[g + 1], vcombine_s8(x, x));
        }
        products[0] = vaddq_s32(products[0], vpaddq_s32(low, high));
    }
};

bool runs() {
#if defined(__linux__)
    constexpr unsigned long dot_products = 1 << 20, matrix_products = 1 << 13; // HWCAP_ASIMDDP, HWCAP2_I8MM
    return (getauxval(AT_HWCAP) & dot_products) != 0 && (getauxval(AT_HWCAP2) & matrix_products) != 0;
#elif defined(__APPLE__)
    int has = 0;
    size_t size = sizeof has;
    return sysctlbyname("hw.optional.arm.FEAT_I8MM", &has, &size, nullptr, 0) == 0 && has != 0;
#else
    return false;
#endif
}

} // namespace

const kernels i8mm = {"NEON i8mm", runs, quantise<set<dot>>, multiply<set<dot>>};

} // namespace matrix

#if defined(__clang__)
#pragma clang attribute pop
#endif
