//go:build llamacpp && amd64

#include "layout.h"

#include <algorithm> // before the target below, which set.h is under
#include <cmath>
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

#include "avx512.h"
#include "set.h"

namespace matrix {

namespace {

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
        for (int v = 0; v < vectors; v++) {
            sums[n][v] = add_scaled<l>(sums[n][v], products[n][v], second[n][v], u.scale[v], u.other[v], a[n]);
        }
    }
}

inline void store(const __m512 (&sums)[vectors], float * out, int rows) {
    for (int v = 0; v < vectors; v++) {
        const int count = rows - v * vector_rows;
        const __mmask16 mask = count >= vector_rows ? 0xffff : count <= 0 ? 0 : (1u << count) - 1;
        _mm512_mask_storeu_ps(out + v * vector_rows, mask, sums[v]);
    }
}

// prefetch reads the weights of a unit so many units ahead.
template <const layout & l, int ahead> inline void prefetch(const uint8_t * step, int number) {
    constexpr size_t bytes = l.unit() + l.head() / l.units;
    for (size_t p = 0; p < bytes; p += 64) {
        _mm_prefetch(reinterpret_cast<const char *>(step) + (ahead + number) * bytes + p, _MM_HINT_T0);
    }
}

// few computes N tokens whose sums stay in registers.
template <const layout & l, int N>
void few(int64_t width, const uint8_t * panel, const activation * tile, int tokens, float * out, int64_t stride, int rows) {
    __m512 sums[N][vectors];
    for (int n = 0; n < N; n++) {
        sums[n][0] = sums[n][1] = _mm512_setzero_ps();
    }
    for (const uint8_t *step = panel, *end = panel + l.panel(width); step < end; step += l.step()) {
        for (int i = 0; i < l.units; i++, tile += tokens) {
            prefetch<l, 8>(step, i);
            unit u;
            load_unit<l>(step, i, u);
            add<l, N>(u, tile, sums);
        }
    }
    for (int n = 0; n < N; n++) {
        store(sums[n], out + n * stride, rows);
    }
}

// at_once is how many tokens are multiplied by quants in registers: with three, no sum is
// waited for. Formats with a scale for each half of a unit have two sums where others have
// one.
template <const layout & l> constexpr int at_once = l.halved() ? 2 : 3;

template <const layout & l>
void many(int64_t width, const uint8_t * panel, const activation * tile, int tokens, float * out, int64_t stride, int rows) {
    __m512 sums[tile_tokens][vectors];
    std::memset(sums, 0, tokens * sizeof sums[0]);
    constexpr int n = at_once<l>;
    for (const uint8_t *step = panel, *end = panel + l.panel(width); step < end; step += l.step()) {
        for (int i = 0; i < l.units; i++, tile += tokens) {
            prefetch<l, 4>(step, i);
            unit u;
            load_unit<l>(step, i, u);
            int t = 0;
            for (; t + n <= tokens; t += n) {
                add<l, n>(u, tile + t, reinterpret_cast<__m512 (&)[n][vectors]>(sums[t]));
            }
            if (n > 2 && t + 2 <= tokens) {
                add<l, 2>(u, tile + t, reinterpret_cast<__m512 (&)[2][vectors]>(sums[t]));
                t += 2;
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

} // namespace

} // namespace matrix

#include "avx512_integers.h"

namespace matrix {

namespace {

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

    static float highest(const float * x) { return matrix::highest(x); }

    // half_unit quantises 16 numbers and returns their sum.
    static int half_unit(const float * x, float by, int8_t * to) {
        const __m512i q = _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_loadu_ps(x), _mm512_set1_ps(by)));
        _mm_storeu_si128(reinterpret_cast<__m128i *>(to), _mm512_cvtsepi32_epi8(q));
        return _mm512_reduce_add_epi32(q);
    }

    // Weights in 16 and 32 bits, see floats.h.
    typedef __m512 vec;
    static constexpr int lanes = 16, vectors = 2, tokens = 12;

    template <ggml_type type> static vec load(const uint8_t * p) {
        if constexpr (type == GGML_TYPE_F16) {
            return halves(p);
        } else if constexpr (type == GGML_TYPE_F32) {
            return _mm512_loadu_ps(p);
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

void keep(const layout & l, const float * x, int64_t width, numbers * to, int64_t stride) {
    if (&l == &f16_by_integers) {
        return keep_integers(x, width, to, stride);
    }
    copy(l, x, width, to, stride);
}

void multiply_all(const layout & l, int64_t width, const void * panel, const void * tile, int tokens, float * out, int64_t stride, int rows) {
    if (&l == &f16_by_integers) {
        return multiply_integers(width, panel, tile, tokens, out, stride, rows);
    }
    multiply<set>(l, width, panel, tile, tokens, out, stride, rows);
}

} // namespace

const kernels avx512 = {"AVX-512 VNNI", runs, quantise<set>, multiply_all, keep, nullptr, true};

} // namespace matrix

#if defined(__clang__)
#pragma clang attribute pop
#endif
