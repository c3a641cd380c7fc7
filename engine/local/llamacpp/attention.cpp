//go:build llamacpp

#include "attention.h"
#include "attention_row.h"
#include "attention_vector.h"
#include "matrix/buffer.h"
#include "ggml.h"
#include "ggml-backend.h"
#include "ggml-cpu.h"
#include "traits.h"
#include "vec.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>

namespace {

// A tile is a number of rows (a token and a query head) by a number of KV cells.
// Its heads share one KV head.
constexpr int tile_rows = 64;
constexpr int tile_cells = 64;

// min_rows per KV head: below it the kernel of rows is as fast, as keys are
// transposed for each tile.
constexpr int min_rows = 16;

std::mutex turn;
std::atomic<bool> enabled; // while a tiled_attention exists

// add_block adds the product of A (M x k) and B (k x V registers) to C. a_row,
// b_row and c_row are strides.
template <int M, int V>
inline void add_block(const float * a, int a_row, const float * b, int b_row, float * c, int c_row, int k) {
    vec sum[M][V];
    for (int i = 0; i < M; i++) {
        for (int j = 0; j < V; j++) {
            sum[i][j] = *reinterpret_cast<const vec *>(c + i * c_row + j * lanes);
        }
    }
    for (int p = 0; p < k; p++) {
        for (int j = 0; j < V; j++) {
            const vec x = *reinterpret_cast<const vec *>(b + p * b_row + j * lanes);
            for (int i = 0; i < M; i++) {
                sum[i][j] += x * a[i * a_row + p];
            }
        }
    }
    for (int i = 0; i < M; i++) {
        for (int j = 0; j < V; j++) {
            *reinterpret_cast<vec *>(c + i * c_row + j * lanes) = sum[i][j];
        }
    }
}

template <int V>
void add_columns(int m, const float * a, int a_row, const float * b, int b_row, float * c, int c_row, int k) {
    int i = 0;
    for (; i + 4 <= m; i += 4) {
        add_block<4, V>(a + i * a_row, a_row, b, b_row, c + i * c_row, c_row, k);
    }
    for (; i < m; i++) {
        add_block<1, V>(a + i * a_row, a_row, b, b_row, c + i * c_row, c_row, k);
    }
}

// add_product adds the product of A (m x k) and B (k x n) to C; n is a multiple of
// lanes.
void add_product(int m, int n, int k, const float * a, int a_row, const float * b, int b_row, float * c, int c_row) {
    int j = 0;
    for (; j + registers * lanes <= n; j += registers * lanes) {
        add_columns<registers>(m, a, a_row, b + j, b_row, c + j, c_row, k);
    }
    for (; j < n; j += lanes) {
        add_columns<1>(m, a, a_row, b + j, b_row, c + j, c_row, k);
    }
}

// shape is the shape of an operation and its tiles.
struct shape {
    const ggml_tensor *q, *k, *v, *mask, *sinks;
    int64_t key, value;       // length of a head's key and value
    int64_t tokens, cells;
    int64_t heads, kv_heads;
    int64_t shared;           // query heads per KV head
    int64_t heads_of_tile, tokens_of_tile;
    float scale;

    shape(const ggml_tensor * op, int threads)
        : q(op->src[0]), k(op->src[1]), v(op->src[2]), mask(op->src[3]), sinks(op->src[4]),
          key(k->ne[0]), value(v->ne[0]), tokens(q->ne[1]), cells(k->ne[1]), heads(q->ne[2]), kv_heads(k->ne[2]),
          shared(heads / kv_heads),
          heads_of_tile(std::min<int64_t>(shared, tile_rows)), tokens_of_tile(divide(threads)),
          scale(parameter(op, 0)) {}

    // divide gives each thread two or more tiles of about the same size.
    int64_t divide(int threads) const {
        const int64_t wanted = tokens * kv_heads * parts() * q->ne[3] / (2 * threads);
        const int64_t most = std::clamp<int64_t>(wanted, 1, tile_rows / heads_of_tile);
        const int64_t steps = (tokens + most - 1) / most;
        return (tokens + steps - 1) / steps;
    }

    int64_t parts() const { return (shared + heads_of_tile - 1) / heads_of_tile; }
    int64_t steps() const { return (tokens + tokens_of_tile - 1) / tokens_of_tile; }
    int64_t tiles() const { return kv_heads * parts() * steps() * q->ne[3]; }
};

// supports reports whether this kernel computes the operation: an fp16 KV cache,
// one mask for all heads, no ALiBi and no softcap.
bool supports(const ggml_tensor * op) {
    if (op->op != GGML_OP_FLASH_ATTN_EXT || !enabled) {
        return false;
    }
    const ggml_tensor *q = op->src[0], *k = op->src[1], *v = op->src[2], *mask = op->src[3];
    return q->type == GGML_TYPE_F32 && k->type == GGML_TYPE_F16 && v->type == GGML_TYPE_F16 &&
        mask != nullptr && mask->type == GGML_TYPE_F16 && mask->ne[2] == 1 && mask->ne[3] == q->ne[3] &&
        q->nb[0] == sizeof(float) && k->nb[0] == sizeof(ggml_fp16_t) && v->nb[0] == sizeof(ggml_fp16_t) &&
        k->ne[3] == q->ne[3] && v->ne[3] == q->ne[3] && v->ne[2] == k->ne[2] && q->ne[2] % k->ne[2] == 0 &&
        q->ne[1] > 1 && q->ne[1] * (q->ne[2] / k->ne[2]) >= min_rows && k->ne[1] % tile_cells == 0 && v->ne[0] % lanes == 0 &&
        parameter(op, 1) == 0 && parameter(op, 2) == 0;
}

// result is the online softmax of a tile's rows, over the cells so far.
struct result {
    float *sums, *highest, *total;

    static int64_t size(const shape & s) { return tile_rows * (s.value + 2) + padding; }

    result(const shape & s, float * p) : sums(p), highest(p + tile_rows * s.value), total(highest + tile_rows) {}

    void clear(const shape & s, int rows) const {
        std::fill_n(sums, rows * s.value, 0.0f);
        std::fill_n(highest, rows, masked);
        std::fill_n(total, rows, 0.0f);
    }

    void shrink(const shape & s, int r, float by) const {
        total[r] *= by;
        for (int64_t d = 0; d < s.value; d++) {
            sums[r * s.value + d] *= by;
        }
    }

    // raise updates the highest score of a row.
    void raise(const shape & s, int r, float score) const {
        if (score > highest[r]) {
            shrink(s, r, std::exp(highest[r] - score));
            highest[r] = score;
        }
    }
};

// workspace is the scratch memory of a thread.
struct workspace {
    float *queries, *keys, *values, *weights, *line, *mask;

    static int64_t size(const shape & s) {
        return tile_rows * (s.key + tile_cells) + tile_cells * (s.key + s.value) + s.key + tile_cells + padding;
    }

    workspace(const shape & s, float * p) {
        const auto take = [&](int64_t n) { float * taken = p; p += n; return taken; };
        queries = take(tile_rows * s.key);         // rows x key
        keys = take(s.key * tile_cells);           // key x cells: transposed
        values = take(tile_cells * s.value);
        weights = take(tile_rows * tile_cells);    // attention scores, then weights
        line = take(s.key);
        mask = take(tile_cells);                   // of one token
    }
};

// tile computes one tile of rows.
struct tile {
    const shape & s;
    const workspace & w;
    const result & to;
    int64_t first_token, tokens, first_head, heads, kv_head, stream;
    int rows;

    tile(const shape & s, const workspace & w, const result & to, int64_t number) : s(s), w(w), to(to) {
        first_token = number % s.steps() * s.tokens_of_tile;
        tokens = std::min(s.tokens_of_tile, s.tokens - first_token);
        number /= s.steps();
        const int64_t part = number % s.parts() * s.heads_of_tile;
        heads = std::min(s.heads_of_tile, s.shared - part);
        number /= s.parts();
        kv_head = number % s.kv_heads;
        stream = number / s.kv_heads;
        first_head = kv_head * s.shared + part;
        rows = static_cast<int>(tokens * heads);
    }

    int64_t token(int row) const { return first_token + row / heads; }
    int64_t head(int row) const { return first_head + row % heads; }

    // attends reports whether the mask lets any token attend to any of the cells.
    bool attends(int64_t cell) const {
        constexpr uint16_t masked = 0xfc00; // minus infinity in fp16
        bool any = false;
        for (int64_t t = 0; t < tokens && !any; t++) {
            const uint16_t * mask = at<uint16_t>(s.mask, first_token + t, 0, stream) + cell;
            int different = 0;
            for (int c = 0; c < tile_cells; c++) {
                different |= mask[c] ^ masked;
            }
            any = different != 0;
        }
        return any;
    }

    void load_queries() const {
        for (int r = 0; r < rows; r++) {
            const float * q = at<float>(s.q, token(r), head(r), stream);
            for (int64_t d = 0; d < s.key; d++) {
                w.queries[r * s.key + d] = q[d] * s.scale;
            }
        }
    }

    const ggml_fp16_t * key(int64_t cell) const { return at<ggml_fp16_t>(s.k, cell, kv_head, stream); }
    const ggml_fp16_t * value(int64_t cell) const { return at<ggml_fp16_t>(s.v, cell, kv_head, stream); }

    // load_value replaces NaN and infinity by 0: the weight of a masked cell is 0,
    // and 0 times infinity is NaN.
    void load_value(int64_t cell, float * x) const {
        constexpr float largest = 65504; // in fp16
        to_fp32(value(cell), x, s.value);
        for (int64_t d = 0; d < s.value; d++) {
            x[d] = std::abs(x[d]) <= largest ? x[d] : 0.0f;
        }
    }

    // score computes the products of queries and keys.
    void score(int64_t cell) const {
        for (int c = 0; c < tile_cells; c++) {
            prefetch(value(cell + c), s.value);
            to_fp32(key(cell + c), w.line, s.key);
            for (int64_t d = 0; d < s.key; d++) {
                w.keys[d * tile_cells + c] = w.line[d];
            }
        }
        std::fill_n(w.weights, rows * tile_cells, 0.0f);
        add_product(rows, tile_cells, s.key, w.queries, s.key, w.keys, tile_cells, w.weights, tile_cells);
    }

    // softmax turns the scores of a row into weights.
    void softmax(int r) const {
        float * x = w.weights + r * tile_cells;
        float highest = to.highest[r];
        for (int c = 0; c < tile_cells; c++) {
            // A masked cell belongs to another sequence: not even its NaN counts.
            x[c] = w.mask[c] == masked ? masked : x[c] + w.mask[c];
            highest = std::max(highest, x[c]);
        }
        if (highest == masked) { // all cells so far are masked
            std::fill_n(x, tile_cells, 0.0f);
            return;
        }
        to.raise(s, r, highest);
        to.total[r] += static_cast<float>(ggml_vec_soft_max_f32(tile_cells, x, x, highest));
    }

    void attend(int64_t cell) const {
        score(cell);
        for (int r = 0; r < rows; r++) {
            if (r % heads == 0) {
                to_fp32(at<ggml_fp16_t>(s.mask, token(r), 0, stream) + cell, w.mask, tile_cells);
            }
            softmax(r);
        }
        for (int c = 0; c < tile_cells; c++) {
            if (cell + tile_cells < s.cells) {
                prefetch(key(cell + tile_cells + c), s.key);
            }
            load_value(cell + c, w.values + c * s.value);
        }
        add_product(rows, s.value, tile_cells, w.weights, tile_cells, w.values, s.value, to.sums, s.value);
    }

    // store divides by the sum of weights. A sink adds a weight without a value.
    void store(ggml_tensor * out) const {
        for (int r = 0; r < rows; r++) {
            if (s.sinks != nullptr) {
                const float sink = static_cast<const float *>(s.sinks->data)[head(r)];
                to.raise(s, r, sink);
                to.total[r] += std::exp(sink - to.highest[r]);
            }
            const float by = to.total[r] == 0 ? 0 : 1 / to.total[r];
            float * y = const_cast<float *>(at<float>(out, head(r), token(r), stream));
            for (int64_t d = 0; d < s.value; d++) {
                y[d] = to.sums[r * s.value + d] * by;
            }
        }
    }

    void compute(ggml_tensor * out) const {
        load_queries();
        to.clear(s, rows);
        for (int64_t cell = 0; cell < s.cells; cell += tile_cells) {
            if (attends(cell)) {
                attend(cell);
            }
        }
        store(out);
    }
};

// attention is ggml's interface for operations with a kernel of their own.
struct attention : ggml::cpu::tensor_traits {
    bool work_size(int threads, const ggml_tensor * op, size_t & size) override {
        const shape s(op, threads);
        size = threads * (workspace::size(s) + result::size(s)) * sizeof(float);
        return true;
    }

    bool compute_forward(ggml_compute_params * params, ggml_tensor * op) override {
        const shape s(op, params->nth);
        const size_t needed = params->nth * (workspace::size(s) + result::size(s)) * sizeof(float);
        if (params->wsize < needed) { // tiles were disabled when the graph was planned
            return false;
        }
        float * own = static_cast<float *>(params->wdata) + params->ith * (workspace::size(s) + result::size(s));
        const workspace w(s, own);
        const result to(s, own + workspace::size(s));
        if (params->ith == 0) {
            ggml_threadpool_chunk_set(params->threadpool, params->nth);
        }
        ggml_barrier(params->threadpool);
        for (int64_t i = params->ith; i < s.tiles(); i = ggml_threadpool_chunk_add(params->threadpool, 1)) {
            tile(s, w, to, i).compute(op);
        }
        return true;
    }
};

// registration is a buffer type without buffers: it only provides the kernel.
struct registration : ggml::cpu::extra_buffer_type {
    attention kernel;

    bool supports_op(ggml_backend_dev_t, const ggml_tensor *) override { return false; }

    ggml::cpu::tensor_traits * get_tensor_traits(const ggml_tensor * op) override {
        return supports(op) ? &kernel : row_attention(op);
    }
};

} // namespace

void shim_attention() {
    static std::once_flag once;
    std::call_once(once, [] {
        // Make ggml copy its list of buffer types before this one is added, so that no
        // weights are allocated in it; but after that of matrices.
        matrix_register();
        ggml_backend_reg_t cpu = ggml_backend_cpu_reg();
        auto list = reinterpret_cast<ggml_backend_dev_get_extra_bufts_t>(ggml_backend_reg_get_proc_address(cpu, "ggml_backend_dev_get_extra_bufts"));
        if (list == nullptr) {
            return;
        }
        list(ggml_backend_reg_dev_get(cpu, 0));

        static registration instance;
        static ggml_backend_buffer_type type = {};
        type.context = static_cast<ggml::cpu::extra_buffer_type *>(&instance);
        ggml_backend_cpu_get_extra_buffer_types().push_back(&type);
    });
}

tiled_attention::tiled_attention() : lock(turn) { enabled = true; }

tiled_attention::~tiled_attention() { enabled = false; }
