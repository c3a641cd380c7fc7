//go:build llamacpp

#include "output.h"
#include "layout.h"
#include "product.h"

#include "ggml-cpu-impl.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <vector>

namespace matrix {

namespace output {

namespace {

// wanted are the rows of each token, as in matrix_want.
struct {
    std::vector<int32_t> behind, rows;
} wanted;

std::atomic<bool> given; // wanted is

struct span {
    const int32_t *begin, *end;
};

span of(int64_t token) {
    const int32_t * all = wanted.rows.data();
    return {all + (token == 0 ? 0 : wanted.behind[token - 1]), all + wanted.behind[token]};
}

// job is a product. Tokens that want all rows come first among the activations, in
// tiles; each other one is a tile of its own.
struct job {
    ggml_compute_params * params;
    ggml_tensor * out;
    const ggml_tensor *w, *x;
    const layout & l;
    int64_t width, rows, units, panels;
    std::vector<int64_t> whole, part; // tokens
    uint8_t * activations;

    job(ggml_compute_params * p, ggml_tensor * op)
        : params(p), out(op), w(op->src[0]), x(op->src[1]), l(layout_of(w)), width(w->ne[0]), rows(w->ne[1]), units(width / unit_columns),
          panels((rows + panel_rows - 1) / panel_rows) {
        for (int64_t t = 0; t < x->ne[1]; t++) {
            const span s = of(t);
            (s.begin == s.end ? whole : part).push_back(t);
        }
        activations = static_cast<uint8_t *>(p->wdata) + (alone() ? p->ith * tokens() * units * activation_size(l) : 0);
    }

    int64_t tokens() const { return x->ne[1]; }
    bool alone() const { return tokens() <= product::few_tokens; } // each thread prepares all activations
    int64_t in_tile(int64_t tile) const { return std::min<int64_t>(tile_tokens, whole.size() - tile * tile_tokens); }

    // at is the activations of the i-th token, in the order that they have.
    uint8_t * at(int64_t i) const { return activations + i * activation_size(l); }
    uint8_t * of_part(int64_t i) const { return at((whole.size() + i) * units); }

    void activate(int64_t i) const {
        const int64_t n = whole.size(), tile = i / tile_tokens;
        const int64_t token = i < n ? whole[i] : part[i - n];
        const float * from = reinterpret_cast<const float *>(static_cast<const char *>(x->data) + token * x->nb[1]);
        if (i < n) {
            best()->activate(l, from, width, at(tile * tile_tokens * units + i % tile_tokens), in_tile(tile));
        } else {
            best()->activate(l, from, width, of_part(i - n), 1);
        }
    }

    void activate() const {
        for (int64_t i = alone() ? 0 : params->ith; i < tokens(); i += alone() ? 1 : params->nth) {
            activate(i);
        }
        if (!alone()) {
            if (params->ith == 0) {
                ggml_threadpool_chunk_set(params->threadpool, params->nth);
            }
            ggml_barrier(params->threadpool);
        }
    }

    float * row(int64_t token, int64_t panel) const { return static_cast<float *>(out->data) + token * rows + panel * panel_rows; }
    int in_panel(int64_t panel) const { return static_cast<int>(std::min<int64_t>(panel_rows, rows - panel * panel_rows)); }

    void multiply(int64_t panel, const uint8_t * tile, int64_t n, float * to, int64_t stride) const {
        best()->multiply(l, width, static_cast<const uint8_t *>(w->data) + panel * l.panel(width), tile, static_cast<int>(n), to, stride, in_panel(panel));
    }

    // compute_part computes the panels from first to last of the tokens that want only
    // some rows.
    void compute_part(int64_t first, int64_t last) const {
        for (size_t i = 0; i < part.size(); i++) {
            const int64_t end = std::min(rows, last * panel_rows);
            std::fill(row(part[i], first), row(part[i], 0) + end, -INFINITY);
            const span s = of(part[i]);
            int64_t done = -1;
            for (const int32_t * r = std::lower_bound(s.begin, s.end, first * panel_rows); r < s.end && *r < end; r++) {
                const int64_t panel = *r / panel_rows;
                if (panel != done) {
                    multiply(panel, of_part(i), 1, row(part[i], panel), rows);
                    done = panel;
                }
            }
        }
    }

    // compute_whole computes a panel of the tokens that want all rows.
    void compute_whole(int64_t panel) const {
        alignas(64) float results[panel_rows * tile_tokens];
        for (size_t first = 0; first < whole.size(); first += tile_tokens) {
            const int64_t n = in_tile(first / tile_tokens);
            multiply(panel, at(first * units), n, results, panel_rows);
            for (int64_t i = 0; i < n; i++) {
                std::memcpy(row(whole[first + i], panel), results + i * panel_rows, in_panel(panel) * sizeof(float));
            }
        }
    }

    void compute() const {
        activate();
        const int64_t first = panels * params->ith / params->nth, last = panels * (params->ith + 1) / params->nth;
        compute_part(first, last);
        if (whole.empty()) {
            return;
        }
        if (alone()) {
            for (int64_t p = first; p < last; p++) {
                compute_whole(p);
            }
            return;
        }
        // So many at once that taking them costs little.
        const int64_t group = std::max<int64_t>(1, panels / (32 * params->nth));
        for (int64_t i = params->ith; i * group < panels; i = ggml_threadpool_chunk_add(params->threadpool, 1)) {
            for (int64_t p = i * group; p < std::min((i + 1) * group, panels); p++) {
                compute_whole(p);
            }
        }
    }
};

} // namespace

bool wants(const ggml_tensor * op) {
    return given && op->src[1]->ne[1] == static_cast<int64_t>(wanted.behind.size()) && ggml_nrows(op->src[1]) == op->src[1]->ne[1] &&
        std::strcmp(op->name, "result_output") == 0;
}

void compute(ggml_compute_params * params, ggml_tensor * op) { job(params, op).compute(); }

} // namespace output

} // namespace matrix

void matrix_want(int32_t tokens, const int32_t * behind, const int32_t * rows) {
    auto & wanted = matrix::output::wanted;
    wanted.behind.assign(behind, behind + tokens);
    wanted.rows.assign(rows, rows + (tokens == 0 ? 0 : behind[tokens - 1]));
    matrix::output::given = true;
}

void matrix_want_all(void) { matrix::output::given = false; }
