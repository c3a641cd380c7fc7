//go:build llamacpp

#include "experts.h"
#include "product.h"
#include "ggml-cpu-impl.h"

#include <algorithm>

namespace matrix::experts {

namespace {

// tile is some of the tokens that chose one expert.
struct tile {
    int32_t expert, first, tokens; // first in the order of all
};

// shape is the shape of an operation. A slot is a token and one of its experts;
// slots are ordered by expert.
struct shape {
    const ggml_tensor *w, *x, *ids;
    const layout & l;
    int64_t width, rows, count, used, slots, units, panels;

    explicit shape(const ggml_tensor * op)
        : w(op->src[0]), x(op->src[1]), ids(op->src[2]), l(layout_of(w)), width(w->ne[0]), rows(w->ne[1]), count(w->ne[2]), used(ids->ne[0]),
          slots(ids->ne[0] * ids->ne[1]), units(width / unit_columns), panels((rows + panel_rows - 1) / panel_rows) {}

    int32_t expert(int64_t slot) const {
        const char * at = static_cast<const char *>(ids->data) + slot % used * ids->nb[0] + slot / used * ids->nb[1];
        return *reinterpret_cast<const int32_t *>(at);
    }

    // at is a slot's row of activations; the slots of a token may share it.
    const float * at(int64_t slot) const {
        const char * row = static_cast<const char *>(x->data) + slot % used % x->ne[1] * x->nb[1] + slot / used * x->nb[2];
        return reinterpret_cast<const float *>(row);
    }
};

// work is the scratch memory of all threads.
struct work {
    uint8_t * activations; // tile by tile
    tile * tiles;
    int32_t * number;         // of tiles
    int32_t * order;          // of slots
    int32_t * ends;           // of the slots of each expert
    float * results;          // of a panel and a tile, for each thread

    static size_t size(const shape & s, int threads) {
        return cache_line + s.slots * (s.units * activation_size(s.l) + sizeof(tile) + sizeof(int32_t)) + (s.count + 1) * sizeof(int32_t) +
               threads * tile_tokens * panel_rows * sizeof(float);
    }

    work(const shape & s, void * memory) {
        activations = aligned(memory);
        tiles = reinterpret_cast<tile *>(activations + s.slots * s.units * activation_size(s.l));
        number = reinterpret_cast<int32_t *>(tiles + s.slots);
        order = number + 1;
        ends = order + s.slots;
        results = reinterpret_cast<float *>(ends + s.count);
    }
};

// sort orders the slots and divides them into tiles.
void sort(const shape & s, const work & w) {
    std::fill_n(w.ends, s.count, 0);
    for (int64_t i = 0; i < s.slots; i++) {
        GGML_ASSERT(s.expert(i) >= 0 && s.expert(i) < s.count);
        w.ends[s.expert(i)]++;
    }
    int32_t first = 0;
    *w.number = 0;
    for (int32_t e = 0; e < s.count; e++) {
        const int32_t end = first + w.ends[e];
        w.ends[e] = first; // becomes the end below
        for (; first < end; first += tile_tokens) {
            w.tiles[(*w.number)++] = {e, first, std::min(tile_tokens, end - first)};
        }
        first = end;
    }
    for (int64_t i = 0; i < s.slots; i++) {
        w.order[w.ends[s.expert(i)]++] = static_cast<int32_t>(i);
    }
}

void activate(const shape & s, const work & w, const tile & t, int thread, int threads) {
    for (int32_t i = thread; i < t.tokens; i += threads) {
        best()->activate(s.l, s.at(w.order[t.first + i]), s.width, w.activations + (t.first * s.units + i) * activation_size(s.l), t.tokens);
    }
}

void multiply(const shape & s, const work & w, const tile & t, int64_t panel, float * result, float * out) {
    const uint8_t * weights = static_cast<const uint8_t *>(s.w->data) + t.expert * s.l.size(s.width, s.rows) + panel * s.l.panel(s.width);
    const int64_t first = panel * panel_rows;
    const int rows = static_cast<int>(std::min<int64_t>(panel_rows, s.rows - first));
    best()->multiply(s.l, s.width, weights, w.activations + t.first * s.units * activation_size(s.l), t.tokens, result, panel_rows, rows);
    for (int32_t i = 0; i < t.tokens; i++) {
        std::copy_n(result + i * panel_rows, rows, out + w.order[t.first + i] * s.rows + first);
    }
}

} // namespace

size_t work_size(const ggml_tensor * op, int threads) { return work::size(shape(op), threads); }

void compute(ggml_compute_params * params, ggml_tensor * op) {
    const shape s(op);
    const work w(s, params->wdata);
    if (params->ith == 0) {
        sort(s, w);
        ggml_threadpool_chunk_set(params->threadpool, params->nth);
    }
    ggml_barrier(params->threadpool);
    for (int32_t t = 0; t < *w.number; t++) {
        activate(s, w, w.tiles[t], params->ith, params->nth);
    }
    ggml_barrier(params->threadpool);
    float * result = w.results + params->ith * tile_tokens * panel_rows;
    for (int64_t i = params->ith; i < *w.number * s.panels; i = ggml_threadpool_chunk_add(params->threadpool, 1)) {
        multiply(s, w, w.tiles[i / s.panels], i % s.panels, result, static_cast<float *>(op->data));
    }
}

} // namespace matrix::experts
