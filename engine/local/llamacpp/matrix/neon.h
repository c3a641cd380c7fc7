// What kernels for arm64 have in common. They differ in how they multiply quants: a
// class dot has
//
//   - at_once, how many tokens it takes,
//   - arrange, which orders the quants of a unit as it needs them,
//   - add<first, last>, which adds the products of groups first to last to those of
//     as many tokens, or of one: a row in each lane.
#pragma once

#include "set.h"

#include <arm_neon.h>

namespace matrix {

namespace {

// unit is 32 columns of 4 rows, unpacked: of a quarter of each vector of 64 bytes.
struct unit {
    int8x16_t quants[groups];
    float32x4_t scale;
    float32x4_t other; // mins, or scales of the second half of columns
};

inline uint32_t dword(const uint8_t * p) {
    uint32_t x;
    std::memcpy(&x, p, sizeof x);
    return x;
}

inline float32x4_t halves(const uint8_t * p) {
    const float16x4_t x = vreinterpret_f16_u8(vld1_u8(p));
    return vcvt_f32_f16(x);
}

// bytes widens 4 of them.
inline uint32x4_t bytes(const uint8_t * p) { return vmovl_u16(vget_low_u16(vmovl_u8(vcreate_u8(dword(p))))); }
inline int32x4_t signed_bytes(const uint8_t * p) { return vmovl_s16(vget_low_s16(vmovl_s8(vcreate_s8(dword(p))))); }

inline uint8x16_t bits(const uint8_t * p, int up, int mask) { return vandq_u8(vshlq_u8(vld1q_u8(p), vdupq_n_s8(static_cast<int8_t>(up))), vdupq_n_u8(static_cast<uint8_t>(mask))); }

// signs says that quants are less their offset.
template <const layout & l> constexpr bool signs() { return l.above == 4 || l.book != nullptr; }

template <const layout & l> inline int8x16_t quants(const uint8_t * planes, const uint8_t * nibbles, int group) {
    constexpr int above = l.above;
    if constexpr (above == 4) {
        return vreinterpretq_s8_u8(veorq_u8(vld1q_u8(nibbles + group * 64), vdupq_n_u8(128))); // signed
    }
    uint8x16_t q = bits(nibbles + group % 4 * 64, group < groups / 2 ? 0 : -4, 15);
    if constexpr (l.book != nullptr) {
        return vqtbl1q_s8(vld1q_s8(l.book->numbers), q);
    } else if constexpr (above == 1) {
        q = vorrq_u8(q, bits(planes, 4 - group, 16));
    } else if constexpr (above == 2) {
        q = vorrq_u8(q, bits(planes + group / 4 * 64, 4 - group % 4 * 2, 48));
    }
    return vreinterpretq_s8_u8(q);
}

template <const layout & l> inline void load_quants(const uint8_t * at, int row, unit & u) {
    const int v = row / vector_rows, quarter = row % vector_rows * 4;
    const uint8_t * planes = at + v * l.planes() / vectors + quarter;
    const uint8_t * nibbles = at + l.planes() + v * (l.unit() - l.planes()) / vectors + quarter;
    for (int g = 0; g < groups; g++) {
        u.quants[g] = quants<l>(planes, nibbles, g);
    }
}

// half_powers are half of 2^exponent, whose bias is 127. They may be subnormal.
inline float32x4_t half_powers(int32x4_t exponents) {
    const int32x4_t normal = vshlq_n_s32(vsubq_s32(exponents, vdupq_n_s32(1)), 23);
    const int32x4_t subnormal = vminq_s32(vshlq_n_s32(vaddq_s32(exponents, vdupq_n_s32(1)), 21), vdupq_n_s32(1 << 22));
    return vreinterpretq_f32_s32(vmaxq_s32(normal, subnormal));
}

// load_scales reads the scales of a unit from the head of its step.
template <const layout & l> inline void load_scales(const uint8_t * head, int number, int row, unit & u) {
    if constexpr (l.scales == scaling::exponent) {
        u.scale = half_powers(vreinterpretq_s32_u32(bytes(head + row)));
        return;
    }
    const float32x4_t d = halves(head + row * 2);
    u.scale = d;
    if constexpr (l.scales == scaling::eight) {
        const uint8_t * scales = head + 2 * panel_rows + number * 2 * panel_rows + row;
        u.scale = vmulq_f32(d, vcvtq_f32_s32(signed_bytes(scales)));
        u.other = vmulq_f32(d, vcvtq_f32_s32(signed_bytes(scales + panel_rows)));
    } else if constexpr (l.scales == scaling::six) {
        const uint8_t * scales = head + 2 * panel_rows;
        const uint32x4_t low = vshlq_u32(vreinterpretq_u32_u8(vld1q_u8(scales + row * 4)), vdupq_n_s32(-4 * number));
        const uint32x4_t high = vshlq_u32(vmovl_u16(vreinterpret_u16_u8(vld1_u8(scales + 4 * panel_rows + row * 2))), vdupq_n_s32(-2 * number));
        const uint32x4_t scale = vorrq_u32(vandq_u32(low, vdupq_n_u32(15)), vandq_u32(vshlq_n_u32(high, 4), vdupq_n_u32(48)));
        u.scale = vmulq_f32(d, vcvtq_f32_s32(vsubq_s32(vreinterpretq_s32_u32(scale), vdupq_n_s32(32))));
    } else if constexpr (l.scales == scaling::six_and_mins) {
        const uint8_t * scales = head + 4 * panel_rows;
        const uint32x4_t low = bytes(scales + number * panel_rows + row);
        const uint32x4_t high = vshlq_u32(vreinterpretq_u32_u8(vld1q_u8(scales + 8 * panel_rows + row * 4)), vdupq_n_s32(-4 * number));
        const uint32x4_t scale = vorrq_u32(vandq_u32(low, vdupq_n_u32(15)), vandq_u32(vshlq_n_u32(high, 4), vdupq_n_u32(48)));
        const uint32x4_t min = vorrq_u32(vshrq_n_u32(low, 4), vandq_u32(vshlq_n_u32(high, 2), vdupq_n_u32(48)));
        u.scale = vmulq_f32(d, vcvtq_f32_u32(scale));
        u.other = vnegq_f32(vmulq_f32(halves(head + 2 * panel_rows + row * 2), vcvtq_f32_u32(min)));
    } else if constexpr (l.mins()) {
        u.other = halves(head + 2 * panel_rows + row * 2);
    }
}

// finish adds the products of a unit and a token to its sums.
template <const layout & l> inline void finish(const unit & u, const activation & a, int32x4_t product, int32x4_t second, float * sums) {
    const float32x4_t scale = vdupq_n_f32(a.scale);
    float32x4_t to = vld1q_f32(sums);
    if constexpr (l.halved()) {
        const float32x4_t both = vfmaq_f32(vmulq_f32(vcvtq_f32_s32(second), u.other), vcvtq_f32_s32(product), u.scale);
        to = vfmaq_f32(to, both, scale);
    } else {
        to = vfmaq_f32(to, vcvtq_f32_s32(product), vmulq_f32(u.scale, scale));
        if constexpr (l.mins()) {
            to = vfmaq_f32(to, u.other, vdupq_n_f32(a.sum));
        }
    }
    vst1q_f32(sums, to);
}

// set is an instruction set, see set.h.
template <class dot> struct set {
    typedef matrix::unit unit;
    static constexpr int slice_rows = 4, at_once = dot::at_once;

    template <const layout & l> static void load(const uint8_t * step, int number, int row, unit & u) {
        load_quants<l>(step + l.head() + number * l.unit(), row, u);
        dot::arrange(u.quants);
        load_scales<l>(step, number, row, u);
    }

    // add adds the products of a unit and N tokens to their sums.
    template <const layout & l, int N> static void add(const unit & u, const activation * a, float * sums) {
        constexpr int offset = signs<l>() ? 0 : l.offset;
        int32x4_t products[N], second[N];
        for (int n = 0; n < N; n++) {
            products[n] = vdupq_n_s32((l.halved() ? a[n].below_first : a[n].below) * offset);
            second[n] = vdupq_n_s32((a[n].below - a[n].below_first) * offset);
        }
        if constexpr (l.halved()) {
            dot::template add<0, groups / 2>(u.quants, a, products);
            dot::template add<groups / 2, groups>(u.quants, a, second);
        } else {
            dot::template add<0, groups>(u.quants, a, products);
        }
        for (int n = 0; n < N; n++) {
            finish<l>(u, a[n], products[n], second[n], sums + n * panel_rows);
        }
    }

    template <const layout & l>
    static void product(int64_t width, const uint8_t * panel, const activation * tile, int tokens, float * out, int64_t stride, int rows) {
        multiply_slices<set, l>(width, panel, tile, tokens, out, stride, rows);
    }

    // highest is the highest absolute value of 32 numbers, and NaN if one is NaN:
    // without the sign, the bits of floats are ordered like the numbers, and NaN is
    // the largest.
    static float highest(const float * x) {
        uint32x4_t most = vdupq_n_u32(0);
        for (int i = 0; i < unit_columns; i += 4) {
            most = vmaxq_u32(most, vandq_u32(vreinterpretq_u32_f32(vld1q_f32(x + i)), vdupq_n_u32(0x7fffffff)));
        }
        const uint32_t value = vmaxvq_u32(most);
        float result;
        std::memcpy(&result, &value, sizeof result);
        return result;
    }

    // half_unit quantises 16 numbers and returns their sum.
    static int half_unit(const float * x, float by, int8_t * to) {
        int32x4_t q[4];
        for (int i = 0; i < 4; i++) {
            q[i] = vcvtnq_s32_f32(vmulq_n_f32(vld1q_f32(x + i * 4), by));
        }
        const int16x8_t low = vcombine_s16(vqmovn_s32(q[0]), vqmovn_s32(q[1])), high = vcombine_s16(vqmovn_s32(q[2]), vqmovn_s32(q[3]));
        const int8x16_t all = vcombine_s8(vqmovn_s16(low), vqmovn_s16(high));
        vst1q_s8(to, all);
        return vaddlvq_s8(all);
    }

    // Weights in 16 and 32 bits, see floats.h.
    typedef float32x4_t vec;
    static constexpr int lanes = 4, vectors = 4, tokens = 6;

    template <ggml_type type> static vec load(const uint8_t * p) {
        if constexpr (type == GGML_TYPE_F16) {
            return halves(p);
        } else if constexpr (type == GGML_TYPE_F32) {
            return vld1q_f32(reinterpret_cast<const float *>(p));
        }
        return vreinterpretq_f32_u32(vshll_n_u16(vreinterpret_u16_u8(vld1_u8(p)), 16));
    }
    static vec broadcast(float x) { return vdupq_n_f32(x); }
    static vec fma(vec x, vec y, vec z) { return vfmaq_f32(z, x, y); }
    static void store(float * to, vec x) { vst1q_f32(to, x); }
};

} // namespace

} // namespace matrix
