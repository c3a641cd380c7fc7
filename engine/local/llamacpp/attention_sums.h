// Sums of weighted values, exact, of a tile of KV cells and a tile of rows. Both kinds
// of sums have the same members, and the same results:
//
//   blocks   how many tiles of cells are added at once
//   scratch  how many int32 are needed for values of that length
//   weigh    takes weights of four cells and a vector of rows, of one of these
//   weighed  takes the bits that any of a vector's weights has: parts of weights that
//            are all 0 are not multiplied
//   value    takes values of four cells and a vector of columns, from whole
//   keep     stores the values of all cells and columns, values_of(length) int32
//   add      adds the products of such values to columns x rows
#pragma once

#include "attention_tile.h"

#include <algorithm>

namespace {

// values_of returns how many int32 the values of a tile of cells are.
constexpr int64_t values_of(int64_t length) { return tile_cells / 2 * length; }

// vector_sums multiply pairs of cells in vector registers.
class vector_sums {
    // Columns that are added at once.
    static constexpr int columns = 4;
    static constexpr int tile_pairs = tile_cells / 2;

    int32_t * weights; // pairs x parts x rows
    int64_t length;
    int32_t bits[tile_vectors] = {};

    template <int N, bool has_high> static void add_values(const int32_t * weights, const int32_t * values, double * to) {
        ints high[columns][N] = {}, low[columns][N] = {};
        for (int p = 0; p < tile_pairs; p++) {
            const int32_t * w = weights + p * 2 * tile_rows;
            for (int d = 0; d < columns; d++) {
                const ints x = ints{} + values[p * columns + d];
                for (int n = 0; n < N; n++) {
                    if constexpr (has_high) {
                        high[d][n] = multiply_pairs(high[d][n], at(w + n * lanes), x);
                    }
                    low[d][n] = multiply_pairs(low[d][n], at(w + tile_rows + n * lanes), x);
                }
            }
        }
        for (int d = 0; d < columns; d++) {
            for (int n = 0; n < N; n++) {
                add_exactly<weight_low>(high[d][n], low[d][n], to + d * tile_rows + n * lanes);
            }
        }
    }

    // add_columns adds all columns of N vectors of rows. any are the bits of their weights.
    template <int N> void add_columns(int first, int32_t any, const int32_t * values, double * sums) const {
        const auto add = any >> weight_low == 0 ? add_values<N, false> : add_values<N, true>;
        for (int64_t d = 0; d < length; d += columns) {
            add(weights + first * lanes, values + d * tile_pairs, sums + d * tile_rows + first * lanes);
        }
    }

  public:
    static constexpr int blocks = 1;
    static int64_t scratch(int64_t) { return tile_pairs * 2 * tile_rows; }

    vector_sums(int32_t * p, int64_t length) : weights(p), length(length) {}

    void weigh(int, int vector, int cell, const ints (&w)[4]) const {
        for (int i = 0; i < 4; i += 2) {
            const pairs both(w[i], w[i + 1]);
            int32_t * to = weights + (cell + i) * tile_rows + vector * lanes;
            at(to) = both.high;
            at(to + tile_rows) = both.low;
        }
    }

    void weighed(int, int vector, int32_t any) { bits[vector] = any; }

    // Values are groups of columns x pairs x columns.
    void value(int cell, int64_t column, const ints (&x)[4], int32_t * values) const {
        for (int i = 0; i < 4; i += 2) {
            const ints both = pair(x[i], x[i + 1]);
            for (int d = 0; d < lanes; d += columns) {
                std::memcpy(values + (column + d) * tile_pairs + (cell + i) / 2 * columns, reinterpret_cast<const int32_t *>(&both) + d, columns * sizeof(int32_t));
            }
        }
    }

    void keep(int32_t *) const {}

    void add(const int32_t * const (&of)[blocks], int, int vectors, double * sums) const {
        for (int v = 0; v < vectors; v++) {
            if (bits[v] == 0) {
                continue;
            }
            if (vectors_at_once == 2 && v + 1 < vectors && bits[v + 1] != 0) {
                add_columns<2>(v, bits[v] | bits[v + 1], of[0], sums);
                v++;
            } else {
                add_columns<1>(v, bits[v], of[0], sums);
            }
        }
    }
};

} // namespace
