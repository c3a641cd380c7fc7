//go:build llamacpp && amd64

// Tiles of AMX: 16 tokens by 16 rows of weights, 32 columns at a time, in bfloat16.
// A number is the sum of two, high and low: an fp16 weight exactly, an activation to
// 2^-18 of it. Three products of four are enough: both low parts together count less
// than what single precision rounds away.
//
// A tile adds up in one order, for one token as for sixteen. It takes subnormal
// numbers for 0: of weights in fp16 there are none, their range being smaller.

#include "amx_quants.h"
#include "amx_tile.h"
#include "layout.h"

#include <algorithm>
#include <cstring>
#include <immintrin.h>

// See avx512.cpp.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,f16c,fma"))), apply_to = function)
#elif defined(__GNUC__)
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,f16c,fma")
#endif

namespace matrix {

namespace {

constexpr int tile_rows = 16; // tokens of a tile
constexpr int tile_bytes = 1024;

using amx_tile::load;
using amx_tile::store;
using amx_tile::zero;

// Registers of tiles are sums (0 to 3), activations (4, 5) of so many tokens, and
// weights (6, 7).
constexpr int token_registers = 6;

// parts are 32 numbers of one token.
struct parts {
    uint16_t high[unit_columns], low[unit_columns];
};

static_assert(sizeof(parts) == sizeof(numbers));

inline __m512i high_of(__m512i x) { return _mm512_and_si512(x, _mm512_set1_epi32(static_cast<int>(0xffff0000))); }

// nearest has the nearest bfloat16 in its upper halves, unless that would overflow.
inline __m512i nearest(__m512i bits) {
    const __m512i even = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    return _mm512_add_epi32(_mm512_add_epi32(bits, even), _mm512_set1_epi32(0x7fff));
}

// round rounds to bfloat16. The largest numbers are rounded towards 0, so that finite
// ones stay finite, and NaN stays NaN.
inline __m512i round(__m512 x) {
    const __m512i bits = _mm512_castps_si512(x);
    const __m512i exponent = _mm512_and_si512(bits, _mm512_set1_epi32(0x7f800000));
    const __mmask16 large = _mm512_cmpge_epi32_mask(exponent, _mm512_set1_epi32(0x7f000000));
    const __m512i cut = _mm512_mask_or_epi32(bits, _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q), bits, _mm512_set1_epi32(0x400000));
    return high_of(_mm512_mask_mov_epi32(nearest(bits), large, cut));
}

// put writes the upper halves of 32 numbers.
inline void put(uint16_t * to, __m512i first, __m512i second) {
    alignas(64) static constexpr uint16_t odd[32] = {1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31, 33, 35, 37, 39, 41, 43, 45, 47, 49, 51, 53, 55, 57, 59, 61, 63};
    _mm512_storeu_si512(to, _mm512_permutex2var_epi16(first, _mm512_load_si512(odd), second));
}

// split writes the units of a row of activations, stride apart.
void split(const layout & l, const float * x, int64_t width, numbers * to, int64_t stride) {
    if (l.type == GGML_TYPE_F32) { // for AVX-512
        return copy(l, x, width, to, stride);
    }
    for (int64_t i = 0; i < width; i += unit_columns, to += stride) {
        parts * p = reinterpret_cast<parts *>(to);
        const __m512 first = _mm512_loadu_ps(x + i), second = _mm512_loadu_ps(x + i + 16);
        const __m512i first_high = round(first), second_high = round(second);
        put(p->high, first_high, second_high);
        const __m512 first_rest = _mm512_sub_ps(first, _mm512_castsi512_ps(first_high)), second_rest = _mm512_sub_ps(second, _mm512_castsi512_ps(second_high));
        put(p->low, nearest(_mm512_castps_si512(first_rest)), nearest(_mm512_castps_si512(second_rest)));
    }
}

// A unit of weights becomes tiles: the high parts of both vectors of rows, then the
// low parts, which weights in bfloat16 do not have. A dword is two columns.
template <ggml_type type> constexpr int tiles_of = type == GGML_TYPE_F16 ? 4 : 2;

inline __m512 halves(const uint8_t * p) { return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(p))); }
inline __m512i words(const uint8_t * p) { return _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(p))); }

// prefetch fetches two columns.
inline void prefetch(const uint8_t * from) {
    constexpr int ahead = 4096;
    _mm_prefetch(reinterpret_cast<const char *>(from) + ahead, _MM_HINT_T0);
    _mm_prefetch(reinterpret_cast<const char *>(from) + ahead + 64, _MM_HINT_T0);
}

template <ggml_type type> inline void unpack_unit(const uint8_t * from, uint8_t * to) {
    constexpr int column = panel_rows * 2;
    for (int c = 0; c < unit_columns; c += 2, from += 2 * column, to += 64) {
        prefetch(from);
        for (int v = 0; v < vectors; v++) {
            const uint8_t * p = from + v * vector_rows * 2;
            if constexpr (type == GGML_TYPE_BF16) {
                _mm512_store_si512(to + v * tile_bytes, _mm512_or_si512(words(p), _mm512_slli_epi32(words(p + column), 16)));
            } else {
                const __m512 x = halves(p), y = halves(p + column);
                const __m512i x_high = high_of(_mm512_castps_si512(x)), y_high = high_of(_mm512_castps_si512(y));
                const __m512i x_low = _mm512_castps_si512(_mm512_sub_ps(x, _mm512_castsi512_ps(x_high)));
                const __m512i y_low = _mm512_castps_si512(_mm512_sub_ps(y, _mm512_castsi512_ps(y_high)));
                _mm512_store_si512(to + v * tile_bytes, _mm512_or_si512(_mm512_srli_epi32(x_high, 16), y_high));
                _mm512_store_si512(to + (vectors + v) * tile_bytes, _mm512_or_si512(_mm512_srli_epi32(x_low, 16), y_low));
            }
        }
    }
}

// add adds the products of a unit to the sums of one or two tiles of tokens.
template <ggml_type type, int N> inline void add(const uint8_t * weights, const parts * first, const parts * second) {
    constexpr int64_t stride = sizeof(parts);
    load<4>(first->high, stride);
    load<6>(weights, 64);
    amx_tile::multiply_bf16<0, 4, 6>();
    load<7>(weights + tile_bytes, 64);
    amx_tile::multiply_bf16<1, 4, 7>();
    if constexpr (N == 2) {
        load<5>(second->high, stride);
        amx_tile::multiply_bf16<2, 5, 6>();
        amx_tile::multiply_bf16<3, 5, 7>();
    }
    if constexpr (type == GGML_TYPE_F16) {
        load<6>(weights + 2 * tile_bytes, 64);
        amx_tile::multiply_bf16<0, 4, 6>();
        load<7>(weights + 3 * tile_bytes, 64);
        amx_tile::multiply_bf16<1, 4, 7>();
        if constexpr (N == 2) {
            amx_tile::multiply_bf16<2, 5, 6>();
            amx_tile::multiply_bf16<3, 5, 7>();
        }
        load<6>(weights, 64);
        load<7>(weights + tile_bytes, 64);
    }
    load<4>(first->low, stride);
    amx_tile::multiply_bf16<0, 4, 6>();
    amx_tile::multiply_bf16<1, 4, 7>();
    if constexpr (N == 2) {
        load<5>(second->low, stride);
        amx_tile::multiply_bf16<2, 5, 6>();
        amx_tile::multiply_bf16<3, 5, 7>();
    }
}

typedef float tile_sums[vectors][tile_rows][vector_rows];

template <int N> inline void load_sums(tile_sums * s, bool start) {
    if (start) {
        zero<0>();
        zero<1>();
        zero<2>();
        zero<3>();
        return;
    }
    load<0>(s[0][0], 64);
    load<1>(s[0][1], 64);
    if constexpr (N == 2) {
        load<2>(s[1][0], 64);
        load<3>(s[1][1], 64);
    }
}

template <int N> inline void store_sums(tile_sums * s) {
    store<0>(s[0][0], 64);
    store<1>(s[0][1], 64);
    if constexpr (N == 2) {
        store<2>(s[1][0], 64);
        store<3>(s[1][1], 64);
    }
}

// block is some units of a panel, unpacked.
constexpr int block_units = 4;

// product multiplies a panel and a tile of tokens. The tokens of its last tile of 16
// may be in the one before, too.
template <ggml_type type> struct product {
    static constexpr int size = tiles_of<type> * tile_bytes; // of a unit

    int64_t units;
    const parts * activations;
    int tokens;

    alignas(64) uint8_t weights[block_units * size];
    alignas(64) tile_sums sums[tile_tokens / tile_rows];

    product(int64_t width, const void * tile, int tokens) : units(width / unit_columns), activations(static_cast<const parts *>(tile)), tokens(tokens) {}

    int count() const { return (tokens + tile_rows - 1) / tile_rows; }
    int first_of(int tile) const { return std::max(0, std::min(tile * tile_rows, tokens - tile_rows)); }

    uint8_t * at(int64_t unit) { return weights + unit % block_units * size; }

    void unpack(const uint8_t * panel, int64_t first, int64_t last) {
        for (int64_t u = first; u < last; u++) {
            unpack_unit<type>(panel + u * unit_columns * panel_rows * 2, at(u));
        }
    }

    // add_block adds the products of units first to last.
    template <int N> void add_block(int64_t first, int64_t last, int tile) {
        load_sums<N>(sums + tile, first == 0);
        const parts * a = activations + first * tokens + first_of(tile);
        const parts * b = N == 1 ? a : activations + first * tokens + first_of(tile + 1);
        for (int64_t u = first; u < last; u++, a += tokens, b += tokens) {
            add<type, N>(at(u), a, b);
        }
        store_sums<N>(sums + tile);
    }

    // compute_few computes tokens of one or two tiles, whose sums stay in registers. The
    // next unit is unpacked while the one before is multiplied.
    template <int N> void compute_few(const uint8_t * panel) {
        load_sums<N>(sums, true);
        const parts *a = activations, *b = activations + first_of(N - 1);
        unpack(panel, 0, 1);
        for (int64_t u = 0; u < units; u++, a += tokens, b += tokens) {
            unpack(panel, u + 1, std::min(u + 2, units));
            add<type, N>(at(u), a, b);
        }
        store_sums<N>(sums);
    }

    void compute(const uint8_t * panel) {
        const amx_tile::registers registers(std::min(tokens, tile_rows), token_registers);
        if (count() == 1) {
            return compute_few<1>(panel);
        }
        if (count() == 2) {
            return compute_few<2>(panel);
        }
        for (int64_t first = 0; first < units; first += block_units) {
            const int64_t last = std::min(first + block_units, units);
            unpack(panel, first, last);
            int t = 0;
            for (; t + 2 <= count(); t += 2) {
                add_block<2>(first, last, t);
            }
            if (t < count()) {
                add_block<1>(first, last, t);
            }
        }
    }

    void write(float * out, int64_t stride, int rows) const {
        for (int t = 0; t < count(); t++) {
            for (int m = 0; m < std::min(tokens, tile_rows); m++) {
                float * to = out + (first_of(t) + m) * stride;
                for (int v = 0; v < vectors; v++) {
                    const int some = std::clamp(rows - v * vector_rows, 0, vector_rows);
                    _mm512_mask_storeu_ps(to + v * vector_rows, static_cast<__mmask16>((1u << some) - 1), _mm512_load_ps(sums[t][v][m]));
                }
            }
        }
    }
};

// vector is two columns of 16 rows in single precision, in parts.
struct vector {
    __m512 high[2], low[2];

    static __m512 float_of(__m512i bits) { return _mm512_castsi512_ps(bits); }

    template <ggml_type type> static vector of(const uint8_t * p) {
        vector w;
        for (int i = 0; i < 2; i++, p += panel_rows * 2) {
            if constexpr (type == GGML_TYPE_BF16) {
                w.high[i] = float_of(_mm512_slli_epi32(words(p), 16));
            } else {
                const __m512 all = halves(p);
                w.high[i] = float_of(high_of(_mm512_castps_si512(all)));
                w.low[i] = _mm512_sub_ps(all, w.high[i]);
            }
        }
        return w;
    }
};

// pair are the sums of even and of odd columns, which a tile adds up apart.
struct pair {
    __m512 even, odd;

    pair() : even(_mm512_setzero_ps()), odd(_mm512_setzero_ps()) {} // one that the compiler makes has the target of other files

    void add(const __m512 (&w)[2], const float * x) {
        even = _mm512_fmadd_ps(w[0], _mm512_set1_ps(x[0]), even);
        odd = _mm512_fmadd_ps(w[1], _mm512_set1_ps(x[1]), odd);
    }
    __m512 add_to(__m512 sum) const { return _mm512_add_ps(sum, _mm512_add_ps(even, odd)); }
};

inline void widen(const uint16_t * from, float * to) {
    for (int k = 0; k < unit_columns; k += 16) {
        _mm512_store_ps(to + k, vector::float_of(_mm512_slli_epi32(words(reinterpret_cast<const uint8_t *>(from + k)), 16)));
    }
}

// multiply_one computes one token without tiles, by the same additions: unpacking
// weights into tiles would take longer.
template <ggml_type type> [[gnu::noinline]] void multiply_one(int64_t units, const uint8_t * panel, const parts * a, float * to) {
    __m512 sums[vectors] = {_mm512_setzero_ps(), _mm512_setzero_ps()};
    for (int64_t u = 0; u < units; u++, a++) {
        alignas(64) float high[unit_columns], low[unit_columns];
        widen(a->high, high);
        widen(a->low, low);
        pair both[vectors], of_weight[vectors], of_activation[vectors]; // the products of high parts, and with low ones
        for (int c = 0; c < unit_columns; c += 2, panel += 2 * panel_rows * 2) {
            prefetch(panel);
            for (int v = 0; v < vectors; v++) {
                const vector w = vector::of<type>(panel + v * vector_rows * 2);
                both[v].add(w.high, high + c);
                if constexpr (type == GGML_TYPE_F16) {
                    of_weight[v].add(w.low, high + c);
                }
                of_activation[v].add(w.high, low + c);
            }
        }
        for (int v = 0; v < vectors; v++) {
            sums[v] = both[v].add_to(sums[v]);
            if constexpr (type == GGML_TYPE_F16) {
                sums[v] = of_weight[v].add_to(sums[v]);
            }
            sums[v] = of_activation[v].add_to(sums[v]);
        }
    }
    for (int v = 0; v < vectors; v++) {
        _mm512_storeu_ps(to + v * vector_rows, sums[v]);
    }
}

// Subnormal numbers are 0 while one of these exists, as they are to tiles.
class no_subnormals {
    static constexpr unsigned bits = 0x8040;
    const unsigned before = _mm_getcsr();

  public:
    no_subnormals() { _mm_setcsr(before | bits); }
    no_subnormals(const no_subnormals &) = delete;
    no_subnormals & operator=(const no_subnormals &) = delete;
    ~no_subnormals() { _mm_setcsr(before); }
};

template <ggml_type type>
void multiply_floats(int64_t width, const void * panel, const void * tile, int tokens, float * out, int64_t stride, int rows) {
    if (tokens == 1) {
        float line[panel_rows];
        {
            const no_subnormals here;
            multiply_one<type>(width / unit_columns, static_cast<const uint8_t *>(panel), static_cast<const parts *>(tile), line);
        }
        std::copy_n(line, rows, out);
        return;
    }
    product<type> p(width, tile, tokens);
    p.compute(static_cast<const uint8_t *>(panel));
    p.write(out, stride, rows);
}

void multiply(const layout & l, int64_t width, const void * panel, const void * tile, int tokens, float * out, int64_t stride, int rows) {
    switch (l.type) {
        case GGML_TYPE_F16: return multiply_floats<GGML_TYPE_F16>(width, panel, tile, tokens, out, stride, rows);
        case GGML_TYPE_BF16: return multiply_floats<GGML_TYPE_BF16>(width, panel, tile, tokens, out, stride, rows);
        default: return multiply_quants(l, width, panel, tile, tokens, out, stride, rows);
    }
}

void quantise(const float * x, int64_t width, activation * to, int64_t stride) { avx512.quantise(x, width, to, stride); }

const char * uses(const layout & l) {
    if (l.floats() && l.type != GGML_TYPE_F32) {
        return amx.name;
    }
    return has_tiles(l) ? "AMX and AVX-512 VNNI" : avx512.name;
}

bool runs() { return avx512.runs() && amx_tile::granted(); }

} // namespace

const kernels amx = {"AMX", runs, quantise, multiply, split, uses};

} // namespace matrix

#if defined(__clang__)
#pragma clang attribute pop
#endif
