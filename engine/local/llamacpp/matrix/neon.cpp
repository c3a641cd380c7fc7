//go:build llamacpp && arm64

#include "layout.h"

#include <algorithm> // before the target below, which set.h is under
#include <arm_neon.h>
#include <cstring>
#include <utility>
#if defined(__linux__)
#include <sys/auxv.h>
#endif

// See avx512.cpp.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("dotprod"))), apply_to = function)
#elif defined(__GNUC__) && !defined(__ARM_FEATURE_DOTPROD)
#pragma GCC target("arch=armv8.2-a+dotprod") // as arm_neon.h; GCC 12 inlines nothing otherwise
#endif

#include "neon.h"

namespace matrix {

namespace {

// dot adds four columns in each lane.
struct dot {
    static constexpr int at_once = 1;

    static void arrange(int8x16_t *) {}

    template <int first, int last> static void add(const int8x16_t * quants, const activation * a, int32x4_t (&products)[1]) {
        for (int g = first; g < last; g += 4) {
            const int8x16_t x = vld1q_s8(a->quants + g * 4);
            products[0] = vdotq_laneq_s32(products[0], quants[g], x, 0);
            products[0] = vdotq_laneq_s32(products[0], quants[g + 1], x, 1);
            products[0] = vdotq_laneq_s32(products[0], quants[g + 2], x, 2);
            products[0] = vdotq_laneq_s32(products[0], quants[g + 3], x, 3);
        }
    }
};

bool runs() {
#if defined(__linux__)
    constexpr unsigned long dot_products = 1 << 20; // HWCAP_ASIMDDP
    return (getauxval(AT_HWCAP) & dot_products) != 0;
#elif defined(__APPLE__)
    return true; // all of Apple's processors have them
#else
    return false;
#endif
}

} // namespace

const kernels neon = {"NEON dotprod", runs, quantise<set<dot>>, multiply<set<dot>>};

} // namespace matrix

#if defined(__clang__)
#pragma clang attribute pop
#endif
