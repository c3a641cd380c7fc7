//go:build llamacpp && amd64

#include "layout.h"

#include <algorithm> // before the target below, which set.h is under
#include <cstring>
#include <immintrin.h>
#include <utility>

// The file is compiled for processors that have these, whatever the others are
// compiled for: no function of it may be called before the processor was asked.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,f16c,fma"))), apply_to = function)
#elif defined(__GNUC__)
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,f16c,fma")
#endif

#include "set.h"

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

inline __m512i four(const activation & a, int group) {
    int32_t columns;
    std::memcpy(&columns, a.quants + group * 4, sizeof columns);
    return _mm512_set1_epi32(columns);
}

constexpr int log2(int x) { return x <= 1 ? 0 : 1 + log2(x / 2); }

// add adds the products of a unit and N tokens to their sums.
template <const layout & l, int N> inline void add(const unit & u, const activation * a, __m512 (&sums)[N][vectors]) {
    __m512i products[N][vectors], second[N][vectors];
    for (int n = 0; n < N; n++) {
        const __m512i start = l.offset == 0 ? _mm512_setzero_si512() : _mm512_slli_epi32(_mm512_set1_epi32(a[n].below), log2(l.offset));
        for (int v = 0; v < vectors; v++) {
            products[n][v] = start;
        }
        if constexpr (l.halved()) {
            const __m512i first = _mm512_slli_epi32(_mm512_set1_epi32(a[n].below_first), log2(l.offset));
            for (int v = 0; v < vectors; v++) {
                products[n][v] = first;
                second[n][v] = _mm512_sub_epi32(start, first);
            }
        }
    }
#pragma GCC unroll 8
    for (int g = 0; g < groups; g++) {
        auto & to = l.halved() && g >= groups / 2 ? second : products;
        for (int n = 0; n < N; n++) {
            const __m512i x = four(a[n], g);
            for (int v = 0; v < vectors; v++) {
                to[n][v] = _mm512_dpbusd_epi32(to[n][v], u.quants[v][g], x);
            }
        }
    }
    for (int n = 0; n < N; n++) {
        const __m512 scale = _mm512_set1_ps(a[n].scale);
        for (int v = 0; v < vectors; v++) {
            const __m512 product = _mm512_cvtepi32_ps(products[n][v]);
            if constexpr (l.halved()) {
                const __m512 both = _mm512_fmadd_ps(product, u.scale[v], _mm512_mul_ps(_mm512_cvtepi32_ps(second[n][v]), u.other[v]));
                sums[n][v] = _mm512_fmadd_ps(both, scale, sums[n][v]);
                continue;
            }
            sums[n][v] = _mm512_fmadd_ps(product, _mm512_mul_ps(u.scale[v], scale), sums[n][v]);
            if constexpr (l.mins()) {
                sums[n][v] = _mm512_fmadd_ps(u.other[v], _mm512_set1_ps(a[n].sum), sums[n][v]);
            }
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

inline void store(const __m512 (&sums)[vectors], float * out, int rows) {
    for (int v = 0; v < vectors; v++) {
        const int count = rows - v * vector_rows;
        const __mmask16 mask = count >= vector_rows ? 0xffff : count <= 0 ? 0 : (1u << count) - 1;
        _mm512_mask_storeu_ps(out + v * vector_rows, mask, sums[v]);
    }
}

// few computes N tokens whose sums stay in registers.
template <const layout & l, int N>
void few(int64_t width, const uint8_t * panel, const activation * tile, int tokens, float * out, int64_t stride, int rows) {
    __m512 sums[N][vectors];
    for (int n = 0; n < N; n++) {
        sums[n][0] = sums[n][1] = _mm512_setzero_ps();
    }
    constexpr int64_t ahead = 4096;
    for (const uint8_t *step = panel, *end = panel + l.panel(width); step < end; step += l.step()) {
        for (int i = 0; i < l.units; i++, tile += tokens) {
            for (size_t p = 0; p < l.unit() + l.head() / l.units; p += 64) {
                _mm_prefetch(reinterpret_cast<const char *>(step) + ahead + i * (l.unit() + l.head() / l.units) + p, _MM_HINT_T0);
            }
            unit u;
            load_unit<l>(step, i, u);
            add<l, N>(u, tile, sums);
        }
    }
    for (int n = 0; n < N; n++) {
        store(sums[n], out + n * stride, rows);
    }
}

template <const layout & l>
void many(int64_t width, const uint8_t * panel, const activation * tile, int tokens, float * out, int64_t stride, int rows) {
    __m512 sums[tile_tokens][vectors];
    std::memset(sums, 0, tokens * sizeof sums[0]);
    for (const uint8_t *step = panel, *end = panel + l.panel(width); step < end; step += l.step()) {
        for (int i = 0; i < l.units; i++, tile += tokens) {
            unit u;
            load_unit<l>(step, i, u);
            int t = 0;
            for (; t + 2 <= tokens; t += 2) {
                add<l, 2>(u, tile + t, reinterpret_cast<__m512 (&)[2][vectors]>(sums[t]));
            }
            if (t < tokens) {
                add<l, 1>(u, tile + t, reinterpret_cast<__m512 (&)[1][vectors]>(sums[t]));
            }
        }
    }
    for (int t = 0; t < tokens; t++) {
        store(sums[t], out + t * stride, rows);
    }
}

// set is this instruction set, see set.h.
struct set {
    template <const layout & l>
    static void product(int64_t width, const uint8_t * panel, const activation * tile, int tokens, float * out, int64_t stride, int rows) {
        switch (tokens) {
            case 1: return few<l, 1>(width, panel, tile, tokens, out, stride, rows);
            case 2: return few<l, 2>(width, panel, tile, tokens, out, stride, rows);
            default: return many<l>(width, panel, tile, tokens, out, stride, rows);
        }
    }

    // highest is the highest absolute value of 32 numbers, and NaN if one is NaN:
    // without the sign, the bits of floats are ordered like the numbers, and NaN is
    // the largest.
    static float highest(const float * x) {
        const __m512i magnitude = _mm512_set1_epi32(0x7fffffff);
        const __m512i most = _mm512_max_epi32(_mm512_and_si512(_mm512_loadu_si512(x), magnitude), _mm512_and_si512(_mm512_loadu_si512(x + 16), magnitude));
        return _mm_cvtss_f32(_mm_castsi128_ps(_mm_cvtsi32_si128(_mm512_reduce_max_epi32(most))));
    }

    // half_unit quantises 16 numbers and returns their sum.
    static int half_unit(const float * x, float by, int8_t * to) {
        const __m512i q = _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_loadu_ps(x), _mm512_set1_ps(by)));
        _mm_storeu_si128(reinterpret_cast<__m128i *>(to), _mm512_cvtsepi32_epi8(q));
        return _mm512_reduce_add_epi32(q);
    }

    // Weights in 16 bits, see floats.h.
    typedef __m512 vec;
    static constexpr int lanes = 16, vectors = 2, tokens = 12;

    template <ggml_type type> static vec load(const uint8_t * p) {
        if constexpr (type == GGML_TYPE_F16) {
            return halves(p);
        }
        return _mm512_castsi512_ps(_mm512_slli_epi32(words(p), 16));
    }
    static vec broadcast(float x) { return _mm512_set1_ps(x); }
    static vec fma(vec x, vec y, vec z) { return _mm512_fmadd_ps(x, y, z); }
    static void store(float * to, vec x) { _mm512_storeu_ps(to, x); }
};

bool runs() {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512vnni");
}

} // namespace

const kernels avx512 = {"AVX-512 VNNI", runs, quantise<set>, multiply<set>};

} // namespace matrix

#if defined(__clang__)
#pragma clang attribute pop
#endif
