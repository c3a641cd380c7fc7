// Sums of weighted values by AMX, which multiplies bytes: a weight has three, a value two.
// The sums are those of vectors, to the bit.
#pragma once

#include "attention_sums.h"

#if defined(__AVX512F__) && defined(__x86_64__)
#define ATTENTION_AMX 1

#include "matrix/amx_tile.h"

namespace {

// byte makes one byte of each of four dwords a dword.
inline ints byte(const ints (&x)[4], int number) {
    const int shift = 8 * number;
    return ((x[0] >> shift) & 0xff) | ((x[1] >> shift) & 0xff) << 8 | ((x[2] >> shift) & 0xff) << 16 | (x[3] >> shift) << 24;
}

class amx_sums {
    static constexpr int side = 16;          // rows and columns of a tile of AMX
    static constexpr int size = side * side; // its int32
    static constexpr int weight_bytes = 3, value_bytes = 2;
    static constexpr int weights_of_block = weight_bytes * tile_vectors * size;

    int32_t *weights; // blocks x vectors of rows x bytes x fours of cells x rows
    int32_t *fours;   // bytes x fours of cells x columns
    int32_t *sums_of; // powers of 256 x columns x rows
    int64_t length;

    static_assert(lanes == side && tile_cells == 4 * side && value_bytes * side == tile_cells / 2);

    // turn makes the columns of 16 x 16 dwords, stride apart, rows.
    static void turn(const int32_t * from, int64_t stride, int32_t * to) {
        __m512i x[side], y[side];
        for (int i = 0; i < side; i++) {
            x[i] = _mm512_loadu_si512(from + i * stride);
        }
        for (int i = 0; i < side; i += 4) {
            const __m512i a = _mm512_unpacklo_epi32(x[i], x[i + 1]), b = _mm512_unpackhi_epi32(x[i], x[i + 1]);
            const __m512i c = _mm512_unpacklo_epi32(x[i + 2], x[i + 3]), d = _mm512_unpackhi_epi32(x[i + 2], x[i + 3]);
            y[i] = _mm512_unpacklo_epi64(a, c);
            y[i + 1] = _mm512_unpackhi_epi64(a, c);
            y[i + 2] = _mm512_unpacklo_epi64(b, d);
            y[i + 3] = _mm512_unpackhi_epi64(b, d);
        }
        for (int i = 0; i < 4; i++) {
            const __m512i a = _mm512_shuffle_i32x4(y[i], y[4 + i], 0x88), b = _mm512_shuffle_i32x4(y[i], y[4 + i], 0xdd);
            const __m512i c = _mm512_shuffle_i32x4(y[8 + i], y[12 + i], 0x88), d = _mm512_shuffle_i32x4(y[8 + i], y[12 + i], 0xdd);
            _mm512_storeu_si512(to + i * side, _mm512_shuffle_i32x4(a, c, 0x88));
            _mm512_storeu_si512(to + (4 + i) * side, _mm512_shuffle_i32x4(b, d, 0x88));
            _mm512_storeu_si512(to + (8 + i) * side, _mm512_shuffle_i32x4(a, c, 0xdd));
            _mm512_storeu_si512(to + (12 + i) * side, _mm512_shuffle_i32x4(b, d, 0xdd));
        }
    }

    // multiply adds the products of 16 columns and a vector of rows in registers:
    // sums in 0 to 3, values in 4, weights in 5 to 7.
    // any are the bits that any weight has: bytes that are all 0 are left out.
    static void multiply(const int32_t * x, const int32_t * w, int32_t any) {
        using namespace matrix::amx_tile;
        load<5>(w, 64);
        load<4>(x + size, 64); // high bytes, which are signed
        multiply_su<1, 4, 5>();
        if (any >> 8 != 0) {
            load<6>(w + size, 64);
            multiply_su<2, 4, 6>();
        }
        if (any >> 16 != 0) {
            load<7>(w + 2 * size, 64);
            multiply_su<3, 4, 7>();
        }
        load<4>(x, 64);
        multiply_uu<0, 4, 5>();
        if (any >> 8 != 0) {
            multiply_uu<1, 4, 6>();
        }
        if (any >> 16 != 0) {
            multiply_uu<2, 4, 7>();
        }
    }

    void add_sums(double * to) const {
        using namespace matrix::amx_tile;
        store<0>(sums_of, 64), store<1>(sums_of + size, 64), store<2>(sums_of + 2 * size, 64), store<3>(sums_of + 3 * size, 64);
        for (int d = 0; d < side; d++) {
            const int32_t * x = sums_of + d * side;
            add_exactly<8>(at(x + size), at(x), to + d * tile_rows);
            add_exactly<8, 1 << 16>(at(x + 3 * size), at(x + 2 * size), to + d * tile_rows);
        }
    }

  public:
    // So few that their sums have 32 bits, and so many that adding these up costs
    // little.
    static constexpr int blocks = 8;
    static_assert(int64_t(blocks) * tile_cells * (255 * 255 + 255 * 255) < INT32_MAX);

    static int64_t scratch(int64_t length) { return blocks * weights_of_block + values_of(length) + 4 * size; }

    amx_sums(int32_t * p, int64_t length)
        : weights(p), fours(weights + blocks * weights_of_block), sums_of(fours + value_bytes * side * length), length(length) {}

    void weigh(int block, int vector, int cell, const ints (&w)[4]) const {
        for (int b = 0; b < weight_bytes; b++) {
            at(weights + block * weights_of_block + (vector * weight_bytes + b) * size + cell / 4 * lanes) = byte(w, b);
        }
    }

    void weighed(int block, int vector, int32_t any) { bits[block][vector] = any; }

    void value(int cell, int64_t column, const ints (&x)[4], int32_t *) const {
        for (int b = 0; b < value_bytes; b++) {
            at(fours + (b * side + cell / 4) * length + column) = byte(x, b);
        }
    }

    // Kept are groups of columns x bytes x columns x fours of cells.
    void keep(int32_t * to) const {
        for (int64_t column = 0; column < length; column += side) {
            for (int b = 0; b < value_bytes; b++) {
                turn(fours + b * side * length + column, length, to + (column / side * value_bytes + b) * size);
            }
        }
    }

    void add(const int32_t * const (&values)[blocks], int count, int vectors, double * sums) const {
        using namespace matrix::amx_tile;
        for (int v = 0; v < vectors; v++) {
            for (int64_t column = 0; column < length; column += side) {
                zero<0>(), zero<1>(), zero<2>(), zero<3>();
                for (int i = 0; i < count; i++) {
                    if (bits[i][v] == 0) {
                        continue;
                    }
                    multiply(values[i] + column * value_bytes * side, weights + i * weights_of_block + v * weight_bytes * size, bits[i][v]);
                }
                add_sums(sums + column * tile_rows + v * lanes);
            }
        }
    }

  private:
    int32_t bits[blocks][tile_vectors] = {};
};

} // namespace

#endif
