// Scores of a tile of rows and a tile of KV cells, before the mask.
#pragma once

#include "attention_tile.h"

#include <algorithm>

namespace {

class scores_of_tile {
    int64_t length;
    const float * queries; // key x rows

    // Keys that are multiplied at once.
    static constexpr int keys_at_once = 4;

    // products of some keys and a vector of rows are added up like lanes of the
    // kernel of rows: each lane for itself, then halves. known is the length of keys,
    // or 0.
    template <int known> struct products {
        const float *queries, *keys; // key x rows, cells x key
        int64_t key;

        typedef vec sums[keys_at_once];

        [[gnu::always_inline]] void lane(int first, sums & sum) const {
            const int64_t length = known == 0 ? key : known;
#pragma GCC unroll 16
            for (int64_t d = first; d < length; d += lanes) {
                for (int c = 0; c < keys_at_once; c++) {
                    sum[c] += at(queries + d * tile_rows) * keys[c * length + d];
                }
            }
        }

        template <int every> [[gnu::always_inline]] void add(int first, sums & sum) const {
            if constexpr (every == lanes) {
                return lane(first, sum);
            } else {
                add<2 * every>(first, sum);
                sums other = {};
                add<2 * every>(first + every, other);
                for (int c = 0; c < keys_at_once; c++) {
                    sum[c] += other[c];
                }
            }
        }

        void store(float * to, int stride) const {
            sums sum = {};
            add<1>(0, sum);
            for (int c = 0; c < keys_at_once; c++) {
                at(to + c * stride) = sum[c];
            }
        }
    };

    template <int known> void multiply_known(const float * keys, int vectors, float * to) const {
        for (int c = 0; c < tile_cells; c += keys_at_once) {
            for (int v = 0; v < vectors; v++) {
                products<known>{queries + v * lanes, keys + c * length, length}.store(to + (c * vectors + v) * lanes, vectors * lanes);
            }
        }
    }

  public:
    scores_of_tile(const float * queries, int64_t length) : length(length), queries(queries) {}

    // multiply writes the scores, cells x rows, of keys, cells x length.
    void multiply(const float * keys, int vectors, float * to) const {
        switch (length) {
            case 32: return multiply_known<32>(keys, vectors, to);
            case 64: return multiply_known<64>(keys, vectors, to);
            case 128: return multiply_known<128>(keys, vectors, to);
            case 256: return multiply_known<256>(keys, vectors, to);
            default: return multiply_known<0>(keys, vectors, to);
        }
    }
};

} // namespace
