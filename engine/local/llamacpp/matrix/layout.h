// How weights lie in memory for the kernels, and activations beside them.
//
// 32 rows form a panel, padded with zero rows at the end. A panel is a sequence of
// steps: 32 columns, or 256 for formats with super-blocks. A step has a head, the
// scales of its rows, and one or eight units: 32 columns of 32 rows.
//
// A unit holds quants of 4 bits and, apart from them, the bits above. It is made
// of dwords, a dword per row, of 16 rows each: the bytes of dword r are four
// consecutive columns of row r, as the dot product instructions of all processors
// want them. A quarter of a cache line is what NEON takes, half of it AVX2, all of
// it AVX-512.
//
// Quants are unsigned. A weight is scale * (quant - offset), or scale * quant + min.
// With a codebook, 4 bits choose a quant among 16.
//
// Weights in 16 or 32 bits have no quants: a unit is 32 columns, and a column its 32 rows.
#pragma once

#include "ggml.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace matrix {

constexpr int panel_rows = 32;
constexpr int unit_columns = 32;
constexpr int vector_rows = 16; // rows per 64 bytes
constexpr int vectors = panel_rows / vector_rows;
constexpr int groups = unit_columns / 4; // dwords of a row in a unit

// scaling is what the head of a step has for each row.
enum class scaling {
    none,
    half,          // a scale in fp16
    half_and_min,  // and a min
    six_and_mins,  // fp16 for scales and for mins, and 6 bits of both for each unit
    six,           // fp16, and 6 bits for each unit, less 32
    eight,         // fp16, and signed 8 bits for each half of a unit
    exponent,      // the scale is half a power of 2, with the exponent of a float (E8M0)
};

// codebook has the numbers that 4 bits stand for, and what makes them quants.
struct codebook {
    int8_t numbers[16];
    int offset;

    constexpr int largest() const {
        int most = 0;
        for (int number : numbers) {
            most = number + offset > most ? number + offset : most;
        }
        return most;
    }
};

inline constexpr codebook iq4 = {{-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113}, 128};
inline constexpr codebook fp4 = {{0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12}, 16}; // E2M1, doubled

// float_size is how many bytes a weight has that is no quant.
constexpr size_t float_size(ggml_type type) { return type == GGML_TYPE_F32 ? 4 : 2; }

// layout describes how weights of a type lie in a panel. All parts are multiples
// of 32 bytes.
struct layout {
    ggml_type type;
    int units;  // per step: 1 or 8
    scaling scales;
    int offset; // of quants
    int above;  // bits of a quant above the fourth, in planes of their own: 0, 1, 2; or 4 for whole bytes
    const codebook * book = nullptr;

    constexpr bool floats() const { return scales == scaling::none; }
    constexpr bool mins() const { return scales == scaling::half_and_min || scales == scaling::six_and_mins; }
    constexpr bool halved() const { return scales == scaling::eight; } // each half of a unit has a scale
    constexpr int largest() const { return book != nullptr ? book->largest() : (16 << above) - 1; }

    constexpr size_t head() const {
        switch (scales) {
            case scaling::none:
                return 0;
            case scaling::half:
                return 2 * panel_rows;
            case scaling::half_and_min:
                return 4 * panel_rows;
            case scaling::six_and_mins:
                return 4 * panel_rows + 12 * panel_rows;
            case scaling::six:
                return 2 * panel_rows + 6 * panel_rows;
            case scaling::eight:
                return 2 * panel_rows + 16 * panel_rows;
            case scaling::exponent:
                return panel_rows;
        }
        return 0;
    }
    constexpr size_t planes() const { return above == 4 ? 0 : above * (unit_columns * panel_rows / 8); }
    constexpr size_t unit() const { return floats() ? unit_columns * panel_rows * float_size(type) : planes() + unit_columns * panel_rows / (above == 4 ? 1 : 2); }
    constexpr size_t step() const { return head() + units * unit(); }
    constexpr int columns() const { return units * unit_columns; }
    constexpr size_t panel(int64_t width) const { return width / columns() * step(); }
    constexpr size_t size(int64_t width, int64_t rows) const { return (rows + panel_rows - 1) / panel_rows * panel(width); }
};

inline constexpr layout q4_0 = {GGML_TYPE_Q4_0, 1, scaling::half, 8, 0};
inline constexpr layout q4_1 = {GGML_TYPE_Q4_1, 1, scaling::half_and_min, 0, 0};
inline constexpr layout q5_0 = {GGML_TYPE_Q5_0, 1, scaling::half, 16, 1};
inline constexpr layout q5_1 = {GGML_TYPE_Q5_1, 1, scaling::half_and_min, 0, 1};
inline constexpr layout q8_0 = {GGML_TYPE_Q8_0, 1, scaling::half, 128, 4};
inline constexpr layout q4_k = {GGML_TYPE_Q4_K, 8, scaling::six_and_mins, 0, 0};
inline constexpr layout q5_k = {GGML_TYPE_Q5_K, 8, scaling::six_and_mins, 0, 1};
inline constexpr layout q6_k = {GGML_TYPE_Q6_K, 8, scaling::eight, 32, 2};
inline constexpr layout iq4_nl = {GGML_TYPE_IQ4_NL, 1, scaling::half, iq4.offset, 0, &iq4};
inline constexpr layout iq4_xs = {GGML_TYPE_IQ4_XS, 8, scaling::six, iq4.offset, 0, &iq4};
inline constexpr layout mxfp4 = {GGML_TYPE_MXFP4, 1, scaling::exponent, fp4.offset, 0, &fp4};

inline constexpr layout f16 = {GGML_TYPE_F16, 1, scaling::none, 0, 0};
inline constexpr layout bf16 = {GGML_TYPE_BF16, 1, scaling::none, 0, 0};
inline constexpr layout f32 = {GGML_TYPE_F32, 1, scaling::none, 0, 0};

// f16_by_integers is f16 for sets that multiply it by integers too, see avx512_integers.h.
inline constexpr layout f16_by_integers = f16;

inline constexpr const layout * layouts[] = {&q4_0, &q4_1, &q5_0, &q5_1, &q8_0, &q4_k, &q5_k, &q6_k, &iq4_nl, &iq4_xs, &mxfp4, &f16, &bf16, &f32};

// find returns the layout of a type, or nullptr.
constexpr const layout * find(ggml_type type) {
    for (const layout * l : layouts) {
        if (l->type == type) {
            return l;
        }
    }
    return nullptr;
}

// activation is 32 numbers of one token, in 8 bits with a common scale.
struct activation {
    int8_t quants[unit_columns];
    float scale;
    float sum;      // scale * the sum of quants
    int32_t below;  // minus the sum of quants
    int32_t below_first; // minus the sum of the first half
};

static_assert(sizeof(activation) == 48);

// numbers are 32 numbers of one token, for weights that are no quants: as they are,
// unless an instruction set needs them otherwise.
struct numbers {
    float x[unit_columns];
};

// copy writes the units of a row of activations as they are, stride apart.
inline void copy(const layout &, const float * x, int64_t width, numbers * to, int64_t stride) {
    for (int64_t i = 0; i < width; i += unit_columns, to += stride) {
        std::memcpy(to->x, x + i, sizeof to->x);
    }
}

constexpr size_t activation_size(const layout & l) { return l.floats() ? sizeof(numbers) : sizeof(activation); }

// Activations begin at a cache line, in a buffer of that many bytes more: ggml's are
// where malloc puts them, and loads across cache lines take twice the time.
constexpr size_t cache_line = 64;

inline uint8_t * aligned(void * buffer) {
    return reinterpret_cast<uint8_t *>((reinterpret_cast<uintptr_t>(buffer) + cache_line - 1) / cache_line * cache_line);
}

// Tokens are computed in tiles, and the activations of a tile lie together: unit
// by unit, the tokens of each.
constexpr int tile_tokens = 128;

// pack lays out rows first to last of weights as a file has them. first is the
// first row of a panel.
void pack(const layout & l, int64_t width, const void * rows, int64_t first, int64_t last, void * panels);

// unpack writes a row as floats.
void unpack(const layout & l, int64_t width, const void * panels, int64_t row, float * to);

// kernels are the functions of one instruction set.
struct kernels {
    const char * name;
    bool (*runs)(); // on this processor

    // quantise writes the units of a row of activations, stride apart.
    void (*quantise)(const float * x, int64_t width, activation * to, int64_t stride);

    // multiply computes the products of a panel and a tile of tokens, which are
    // activations or numbers. It writes the given number of rows of each token to
    // out, stride apart.
    void (*multiply)(const layout & l, int64_t width, const void * panel, const void * tile, int tokens, float * out, int64_t stride, int rows);

    // keep writes them for weights that are no quants.
    void (*keep)(const layout & l, const float * x, int64_t width, numbers * to, int64_t stride) = copy;

    // uses names the instruction sets of products of a layout, if they are not all of
    // this name.
    const char * (*uses)(const layout & l) = nullptr;

    // integers reports whether multiply and keep take f16_by_integers.
    bool integers = false;

    const char * instructions(const layout & l) const { return uses == nullptr ? name : uses(l); }

    // activate writes the units of a row as multiply wants them, stride apart.
    void activate(const layout & l, const float * x, int64_t width, void * to, int64_t stride) const {
        if (!l.floats()) {
            return quantise(x, width, static_cast<activation *>(to), stride);
        }
        return keep(l, x, width, static_cast<numbers *>(to), stride);
    }
};

extern const kernels plain;
extern const kernels avx2;
extern const kernels avxvnni;
extern const kernels avx512;
extern const kernels amx;
extern const kernels neon;
extern const kernels i8mm;

} // namespace matrix
