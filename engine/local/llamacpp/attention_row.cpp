//go:build llamacpp

// llama.cpp's kernel adds values in fp16, cell by cell. Which cells a sequence
// gets depends on what ran before, so equal requests got logits that differed by
// more than a tenth: each order rounds in its own way, and quantized activations
// of the next layers enlarge the difference.
//
// This kernel gives the same bits in any order. It finds the highest score and the
// largest value before it computes weights, and makes integers of weights and
// values, whose products it adds exactly.

#include "attention_row.h"
#include "attention_vector.h"
#include "ggml-cpu.h"

#include <algorithm>

namespace {

// Vectors of columns that are added at once, for each of so many heads.
constexpr int columns(int heads) { return lanes == 16 && heads <= 3 ? 4 : 2; }

// most_heads share what is read of a cell.
constexpr int most_heads = 4;

// in_pairs makes the high and the low parts of two neighbours of their dwords.
inline ints in_pairs(ints x) {
    constexpr int32_t below = (1 << weight_low) - 1;
    const ints high = x >> weight_low, low = x & below;
    ints y;
    for (int i = 0; i < lanes; i += 2) {
        y[i] = high[i] | high[i + 1] << 16;
        y[i + 1] = low[i] | low[i + 1] << 16;
    }
    return y;
}

inline float highest_of(vec x) {
    float highest = x[0];
    for (int i = 1; i < lanes; i++) {
        highest = x[i] > highest ? x[i] : highest;
    }
    return highest;
}

// unit is what a thread computes at once: heads of a token that share a KV head.
struct unit {
    const ggml_tensor *op, *q, *k, *v, *mask, *sinks;
    int64_t token, first_head, kv_head, stream;
    int heads;

    const ggml_fp16_t * key(int64_t cell) const { return at<ggml_fp16_t>(k, cell, kv_head, stream); }
    const ggml_fp16_t * value(int64_t cell) const { return at<ggml_fp16_t>(v, cell, kv_head, stream); }
    float scale() const { return parameter(op, 0); }
};

// workspace is the scratch memory of a thread.
struct workspace {
    int64_t stride;   // between the scores of two heads
    int32_t * cells;  // that the token attends to
    float *bias;      // of each, in the mask
    float *queries;   // scaled, of each head
    float *scores;    // of each head, then weights
    float *largest;   // value of each
    float *scales;    // of the values of each
    double *sums;     // of each head
    float most = 0;   // the largest of these
    int count = 0;    // of cells

    static int64_t padded(int64_t cells) { return (cells + 15) / 16 * 16 + 16; }

    static int64_t size(const ggml_tensor * op) {
        const int64_t stride = padded(op->src[1]->ne[1]);
        return ((4 + most_heads) * stride + most_heads * op->src[1]->ne[0] + padding) * sizeof(float) + most_heads * op->src[2]->ne[0] * sizeof(double);
    }

    workspace(const ggml_tensor * op, void * p) : stride(padded(op->src[1]->ne[1])) {
        sums = static_cast<double *>(p);
        bias = reinterpret_cast<float *>(sums + most_heads * op->src[2]->ne[0]);
        scores = bias + stride;
        cells = reinterpret_cast<int32_t *>(scores + most_heads * stride);
        largest = scores + (most_heads + 1) * stride;
        scales = largest + stride;
        queries = scales + stride;
    }

    // list finds the cells that the token attends to.
    void list(const unit & u) {
        constexpr uint16_t never = 0xfc00; // minus infinity in fp16
        const uint16_t * m = at<uint16_t>(u.mask, u.token, 0, u.stream);
        const int64_t all = u.k->ne[1];
        for (int64_t first = 0; first < all; first += 64) {
            const int64_t end = std::min(first + 64, all);
            int different = 0;
            for (int64_t i = first; i < end; i++) {
                different |= m[i] ^ never;
            }
            for (int64_t i = first; different != 0 && i < end; i++) {
                cells[count] = static_cast<int32_t>(i);
                bias[count] = m[i] == 0 ? 0 : ggml_fp16_to_fp32(m[i]);
                count += m[i] != never;
            }
        }
        // Cells that are read ahead, or beside the last one.
        for (int i = 0; i < 8; i++) {
            cells[count + i] = count == 0 ? 0 : cells[count - 1];
        }
    }
};

// measure finds the largest value of each cell, and what makes its values integers.
// What it reads is near when it is multiplied.
void measure(const unit & u, workspace & w) {
    constexpr int ahead = 4, at_once = 64;
    ggml_fp16_t bits[at_once + lanes] = {};
    for (int first = 0; first < w.count; first += at_once) {
        const int cells = w.count - first < at_once ? w.count - first : at_once;
        for (int i = 0; i < cells; i++) {
            prefetch(u.value(w.cells[first + i + ahead]), u.v->ne[0]);
            bits[i] = largest_of(u.value(w.cells[first + i]), u.v->ne[0]);
        }
        std::fill(bits + cells, bits + at_once, 0);
        to_fp32(bits, w.largest + first, (cells + lanes) / lanes * lanes);
    }
    vec most = {};
    for (int i = 0; i < w.count; i += lanes) {
        const vec x = *reinterpret_cast<const vec *>(w.largest + i);
        most = larger(x, most);
        *reinterpret_cast<vec *>(w.scales + i) = scale_of(x, value_one);
    }
    w.most = highest_of(most);
    w.scales[w.count] = 0;
}

// load_queries scales the queries of M heads.
template <int M>
void load_queries(const unit & u, const workspace & w, int head) {
    const int64_t length = u.k->ne[0];
    for (int r = 0; r < M; r++) {
        const float * q = at<float>(u.q, u.token, u.first_head + head + r, u.stream);
        for (int64_t d = 0; d < length; d++) {
            w.queries[r * length + d] = q[d] * u.scale();
        }
    }
}

// add_up adds halves until one is left. The kernel of tiles has the same order.
inline float add_up(vec x) {
#if defined(__AVX512F__)
    return _mm512_reduce_add_ps(__m512(x));
#else
    for (int half = lanes / 2; half > 0; half /= 2) {
        for (int i = 0; i < half; i++) {
            x[i] += x[i + half];
        }
    }
    return x[0];
#endif
}

// score computes the products of M queries and the keys.
template <int M>
void score(const unit & u, const workspace & w, int head) {
    const int64_t length = u.k->ne[0];
    load_queries<M>(u, w, head);
    for (int i = 0; i < w.count; i++) {
        const ggml_fp16_t * key = u.key(w.cells[i]);
        if (i + 4 < w.count) {
            prefetch(u.key(w.cells[i + 4]), length);
        }
        vec sum[M] = {};
        for (int64_t d = 0; d < length; d += lanes) {
            const vec x = from_fp16(key + d);
            for (int r = 0; r < M; r++) {
                sum[r] += x * *reinterpret_cast<const vec *>(w.queries + r * length + d);
            }
        }
        for (int r = 0; r < M; r++) {
            w.scores[(head + r) * w.stride + i] = add_up(sum[r]) + w.bias[i];
        }
    }
}

// add_values adds the weighted values of M heads, in some columns.
template <int M, int V>
void add_values(const unit & u, const workspace & w, int head, int64_t column) {
    double * sums[M];
    for (int r = 0; r < M; r++) {
        sums[r] = w.sums + (head + r) * u.v->ne[0] + column;
        std::fill_n(sums[r], V * lanes, 0.0);
    }
    for (int first = 0; first < w.count; first += exact_cells) {
        ints high[M][V] = {}, low[M][V] = {};
        const int end = first + exact_cells < w.count ? first + exact_cells : w.count;
        for (int i = first; i < end; i += 2) {
            const ggml_fp16_t *x = u.value(w.cells[i]) + column, *y = u.value(w.cells[i + 1]) + column; // the last with a weight of 0
            const vec x_scale = vec{} + w.scales[i], y_scale = vec{} + w.scales[i + 1];
            for (int j = 0; j < V; j++) {
                const ints values = pair(whole(from_fp16(x + j * lanes), x_scale), whole(from_fp16(y + j * lanes), y_scale));
                for (int r = 0; r < M; r++) {
                    const int32_t * weights = reinterpret_cast<const int32_t *>(w.scores + (head + r) * w.stride + i);
                    high[r][j] = multiply_pairs(high[r][j], ints{} + weights[0], values);
                    low[r][j] = multiply_pairs(low[r][j], ints{} + weights[1], values);
                }
            }
        }
        for (int r = 0; r < M; r++) {
            for (int j = 0; j < V; j++) {
                add_exactly<weight_low>(high[r][j], low[r][j], sums[r] + j * lanes);
            }
        }
    }
}

// softmax turns the scores of a head into weights and returns their sum. The
// weights of two cells become their high parts, then their low ones. A sink adds
// a weight without a value.
double softmax(const unit & u, const workspace & w, int head) {
    float * x = w.scores + head * w.stride;
    const float sink = u.sinks == nullptr ? masked : static_cast<const float *>(u.sinks->data)[u.first_head + head];
    std::fill(x + w.count, x + (w.count + lanes - 1) / lanes * lanes, masked);
    vec most = vec{} + sink;
    for (int i = 0; i < w.count; i += lanes) {
        most = larger(*reinterpret_cast<const vec *>(x + i), most);
    }
    const float highest = highest_of(most);
    double total = u.sinks == nullptr ? 0 : weight_of(vec{} + (sink - highest))[0] / weight_unit;
    double totals[lanes] = {};
    const vec scale = scale_of(vec{} + w.most, weight_one);
    for (int i = 0; i < w.count; i += lanes) {
        vec & v = *reinterpret_cast<vec *>(x + i);
        const vec weights = weight_of(v - highest);
        add_exactly<0>(ints{}, whole_weights(weights), totals);
        v = reinterpret_cast<vec>(in_pairs(whole_weight(weights, *reinterpret_cast<const vec *>(w.largest + i) * scale)));
    }
    for (const double x : totals) {
        total += x;
    }
    return total;
}

template <int M>
void attend(const unit & u, const workspace & w, int head, ggml_tensor * out) {
    score<M>(u, w, head);
    double total[M];
    for (int r = 0; r < M; r++) {
        total[r] = softmax(u, w, head + r);
    }
    const int64_t length = u.v->ne[0];
    int64_t column = 0;
    for (; column + columns(M) * lanes <= length; column += columns(M) * lanes) {
        add_values<M, columns(M)>(u, w, head, column);
    }
    for (; column < length; column += lanes) {
        add_values<M, 1>(u, w, head, column);
    }
    for (int r = 0; r < M; r++) {
        float * y = const_cast<float *>(at<float>(out, u.first_head + head + r, u.token, u.stream));
        const double by = result_scale(w.most, total[r]);
        for (int64_t d = 0; d < length; d++) {
            y[d] = static_cast<float>(w.sums[(head + r) * length + d] * by);
        }
    }
}

void compute(const unit & u, workspace w, ggml_tensor * out) {
    w.list(u);
    measure(u, w);
    switch (u.heads) {
    case 1: return attend<1>(u, w, 0, out);
    case 2: return attend<2>(u, w, 0, out);
    case 3: return attend<3>(u, w, 0, out);
    default: return attend<most_heads>(u, w, 0, out);
    }
}

// division is how an operation is divided into units: two or more per thread if
// there are so many rows, so that the threads end at about the same time.
struct division {
    int64_t shared, heads, parts, tokens, kv_heads, streams;

    division(const ggml_tensor * op, int threads) {
        const ggml_tensor *q = op->src[0], *k = op->src[1];
        tokens = q->ne[1], kv_heads = k->ne[2], streams = q->ne[3];
        shared = q->ne[2] / kv_heads;
        const int64_t most = std::clamp<int64_t>(q->ne[2] * tokens * streams / (2 * threads), 1, most_heads);
        parts = (shared + most - 1) / most;
        heads = (shared + parts - 1) / parts;
        parts = (shared + heads - 1) / heads;
    }

    int64_t units() const { return parts * kv_heads * tokens * streams; }

    unit at(const ggml_tensor * op, int64_t number) const {
        unit u = {op, op->src[0], op->src[1], op->src[2], op->src[3], op->src[4]};
        const int64_t first = number % parts * heads;
        u.heads = static_cast<int>(std::min(heads, shared - first));
        number /= parts;
        u.kv_head = number % kv_heads;
        u.first_head = u.kv_head * shared + first;
        number /= kv_heads;
        u.token = number % tokens;
        u.stream = number / tokens;
        return u;
    }
};

struct attention : ggml::cpu::tensor_traits {
    bool work_size(int threads, const ggml_tensor * op, size_t & size) override {
        size = threads * workspace::size(op);
        return true;
    }

    bool compute_forward(ggml_compute_params * params, ggml_tensor * op) override {
        if (params->wsize < params->nth * workspace::size(op)) {
            return false;
        }
        const division d(op, params->nth);
        const workspace w(op, static_cast<char *>(params->wdata) + params->ith * workspace::size(op));
        if (params->ith == 0) {
            ggml_threadpool_chunk_set(params->threadpool, params->nth);
        }
        ggml_barrier(params->threadpool);
        for (int64_t i = params->ith; i < d.units(); i = ggml_threadpool_chunk_add(params->threadpool, 1)) {
            compute(d.at(op, i), w, op);
        }
        return true;
    }
};

// supports reports whether this kernel computes the operation: an fp16 KV cache,
// one mask for all heads, no ALiBi and no softcap.
bool supports(const ggml_tensor * op) {
    if (op->op != GGML_OP_FLASH_ATTN_EXT) {
        return false;
    }
    const ggml_tensor *q = op->src[0], *k = op->src[1], *v = op->src[2], *mask = op->src[3];
    return q->type == GGML_TYPE_F32 && k->type == GGML_TYPE_F16 && v->type == GGML_TYPE_F16 &&
        mask != nullptr && mask->type == GGML_TYPE_F16 && mask->ne[2] == 1 && mask->ne[3] == q->ne[3] &&
        q->nb[0] == sizeof(float) && k->nb[0] == sizeof(ggml_fp16_t) && v->nb[0] == sizeof(ggml_fp16_t) &&
        k->ne[3] == q->ne[3] && v->ne[3] == q->ne[3] && v->ne[2] == k->ne[2] && q->ne[2] % k->ne[2] == 0 &&
        k->ne[0] % lanes == 0 && v->ne[0] % lanes == 0 &&
        parameter(op, 1) == 0 && parameter(op, 2) == 0;
}

} // namespace

ggml::cpu::tensor_traits * row_attention(const ggml_tensor * op) {
    static attention kernel;
    return supports(op) ? &kernel : nullptr;
}
