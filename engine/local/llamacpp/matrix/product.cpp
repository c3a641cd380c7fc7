//go:build llamacpp

#include "product.h"
#include "experts.h"
#include "output.h"
#include "ggml-cpu-impl.h"

#include <algorithm>
#include <atomic>

namespace matrix {

namespace {

std::atomic<const kernels *> used; // nullptr: what the processor has

// all are the kernels of this architecture, the best first.
const kernels * const all[] = {
#if defined(__x86_64__)
    &amx,
    &avx512,
    &avxvnni,
    &avx2,
#elif defined(__aarch64__)
    &i8mm,
    &neon,
#endif
};

} // namespace

const kernels * best() {
    static const kernels * const found = [] {
        for (const kernels * k : all) {
            if (k->runs()) {
                return k;
            }
        }
        return static_cast<const kernels *>(nullptr);
    }();
    const kernels * chosen = used;
    return chosen != nullptr ? chosen : found;
}

bool use(std::string_view name) {
    used = name == plain.name ? &plain : nullptr;
    for (const kernels * k : all) {
        if (k->name == name && k->runs()) {
            used = k;
        }
    }
    return used != nullptr;
}

const layout & layout_of(const ggml_tensor * weights) {
    return weights->extra != nullptr && best()->integers ? f16_by_integers : *find(weights->type);
}

void allow_integers(ggml_tensor * weights) {
    if (weights->type == GGML_TYPE_F16) {
        weights->extra = const_cast<layout *>(&f16_by_integers); // a mark, which ggml leaves alone
    }
}

namespace product {

namespace {

// shape is the shape of a product.
struct shape {
    const ggml_tensor *w, *x;
    const layout & l;
    int64_t width, rows, tokens, units, panels, tiles;

    explicit shape(const ggml_tensor * op)
        : w(op->src[0]), x(op->src[1]), l(layout_of(w)), width(w->ne[0]), rows(w->ne[1]), tokens(ggml_nrows(x)), units(width / unit_columns),
          panels((rows + panel_rows - 1) / panel_rows), tiles((tokens + tile_tokens - 1) / tile_tokens) {}

    // group is how many panels a thread takes at once: so many that taking them
    // costs little, and few enough that all threads end at about the same time.
    int64_t group(int threads) const {
        constexpr int64_t enough = 1 << 18; // multiplications
        const int64_t wanted = enough / (panel_rows * width * std::min<int64_t>(tokens, tile_tokens));
        return std::max<int64_t>(1, std::min(wanted, panels / (4 * threads)));
    }

    size_t activations() const { return tokens * units * activation_size(l); }

    // at is a token's row of activations.
    const float * at(int64_t token) const {
        const int64_t i1 = token % x->ne[1], i2 = token / x->ne[1] % x->ne[2], i3 = token / x->ne[1] / x->ne[2];
        return reinterpret_cast<const float *>(static_cast<const char *>(x->data) + i1 * x->nb[1] + i2 * x->nb[2] + i3 * x->nb[3]);
    }

    int tokens_of(int64_t tile) const { return static_cast<int>(std::min<int64_t>(tile_tokens, tokens - tile * tile_tokens)); }

    void activate(uint8_t * to, int64_t token) const {
        const int64_t tile = token / tile_tokens;
        best()->activate(l, at(token), width, to + (tile * tile_tokens * units + token % tile_tokens) * activation_size(l), tokens_of(tile));
    }

    void multiply(const uint8_t * activations, ggml_tensor * out, int64_t panel, int64_t tile) const {
        const uint8_t * weights = static_cast<const uint8_t *>(w->data) + panel * l.panel(width);
        const int64_t first = panel * panel_rows;
        float * to = static_cast<float *>(out->data) + tile * tile_tokens * rows + first;
        best()->multiply(l, width, weights, activations + tile * tile_tokens * units * activation_size(l), tokens_of(tile), to, rows, static_cast<int>(std::min<int64_t>(panel_rows, rows - first)));
    }
};

void multiply_few(ggml_compute_params * params, ggml_tensor * op, const shape & s) {
    uint8_t * own = aligned(params->wdata) + params->ith * s.activations();
    for (int64_t t = 0; t < s.tokens; t++) {
        s.activate(own, t);
    }
    for (int64_t p = s.panels * params->ith / params->nth; p < s.panels * (params->ith + 1) / params->nth; p++) {
        s.multiply(own, op, p, 0);
    }
}

void multiply_many(ggml_compute_params * params, ggml_tensor * op, const shape & s) {
    uint8_t * shared = aligned(params->wdata);
    // ggml divides the rows of sums, gates and positions like this, so that a thread reads
    // here what it wrote. Cores may share no cache.
    const int64_t part = (s.tokens + params->nth - 1) / params->nth;
    for (int64_t t = part * params->ith; t < std::min(part * (params->ith + 1), s.tokens); t++) {
        s.activate(shared, t);
    }
    if (params->ith == 0) {
        ggml_threadpool_chunk_set(params->threadpool, params->nth);
    }
    ggml_barrier(params->threadpool);
    const int64_t group = s.group(params->nth), turns = (s.panels + group - 1) / group * s.tiles;
    for (int64_t i = params->ith; i < turns; i = ggml_threadpool_chunk_add(params->threadpool, 1)) {
        const int64_t first = i / s.tiles * group;
        for (int64_t p = first; p < std::min(first + group, s.panels); p++) {
            s.multiply(shared, op, p, i % s.tiles);
        }
    }
}

// look_up writes rows of weights as floats.
void look_up(ggml_compute_params * params, ggml_tensor * op) {
    const ggml_tensor *w = op->src[0], *ids = op->src[1];
    const layout & l = layout_of(w);
    const int64_t n = ggml_nelements(ids);
    for (int64_t i = params->ith; i < n; i += params->nth) {
        const int64_t i0 = i % ids->ne[0], i1 = i / ids->ne[0] % ids->ne[1], i2 = i / ids->ne[0] / ids->ne[1];
        const int32_t row = *reinterpret_cast<const int32_t *>(static_cast<const char *>(ids->data) + i0 * ids->nb[0] + i1 * ids->nb[1] + i2 * ids->nb[2]);
        GGML_ASSERT(row >= 0 && row < w->ne[1]);
        float * to = reinterpret_cast<float *>(static_cast<char *>(op->data) + i0 * op->nb[1] + i1 * op->nb[2] + i2 * op->nb[3]);
        unpack(l, w->ne[0], w->data, row, to);
    }
}

} // namespace

bool has(const ggml_tensor * op) {
    const ggml_tensor *w = op->src[0], *x = op->src[1];
    if (find(w->type) == nullptr || w->ne[0] % unit_columns != 0 || op->type != GGML_TYPE_F32 || !ggml_is_contiguous(op) || w->ne[3] != 1) {
        return false;
    }
    switch (op->op) {
        case GGML_OP_MUL_MAT:
            return w->ne[2] == 1 && x->type == GGML_TYPE_F32 && x->nb[0] == sizeof(float);
        case GGML_OP_MUL_MAT_ID:
            return x->type == GGML_TYPE_F32 && x->nb[0] == sizeof(float);
        case GGML_OP_GET_ROWS:
            return w->ne[2] == 1;
        default:
            return false;
    }
}

size_t work_size(const ggml_tensor * op, int threads) {
    if (op->op == GGML_OP_GET_ROWS) {
        return 0;
    }
    if (op->op == GGML_OP_MUL_MAT_ID) {
        return experts::work_size(op, threads);
    }
    const shape s(op);
    return cache_line + s.activations() * (s.tokens <= few_tokens ? threads : 1);
}

void compute(ggml_compute_params * params, ggml_tensor * op) {
    if (op->op == GGML_OP_GET_ROWS) {
        return look_up(params, op);
    }
    if (op->op == GGML_OP_MUL_MAT_ID) {
        return experts::compute(params, op);
    }
    if (output::wants(op)) {
        return output::compute(params, op);
    }
    const shape s(op);
    if (s.tokens <= few_tokens) {
        return multiply_few(params, op, s);
    }
    multiply_many(params, op, s);
}

} // namespace product

} // namespace matrix
