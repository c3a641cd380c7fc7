// Sizes of tiles of attention, and vectors in their memory.
#pragma once

#include "attention_vector.h"

namespace {

// A tile is a number of rows by a number of KV cells. Its heads share one KV head.
constexpr int tile_rows = 64;
constexpr int tile_cells = 64;
constexpr int tile_vectors = tile_rows / lanes;
static_assert(tile_cells <= exact_cells);

inline vec & at(float * p) { return *reinterpret_cast<vec *>(p); }
inline const vec & at(const float * p) { return *reinterpret_cast<const vec *>(p); }
inline ints & at(int32_t * p) { return *reinterpret_cast<ints *>(p); }
inline const ints & at(const int32_t * p) { return *reinterpret_cast<const ints *>(p); }

// Vectors of rows that are multiplied at once.
constexpr int vectors_at_once = lanes == 8 ? 1 : 2;

} // namespace
