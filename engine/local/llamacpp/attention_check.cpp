//go:build llamacpp

#include "attention_check.h"
#include "attention.h"
#include "guard.h"
#include "ggml.h"
#include "ggml-cpu.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

namespace {

struct check {
    shim_attention_case c;
    ggml_context * ctx;
    std::mt19937 random{1};
    ggml_tensor *q, *k, *v, *mask, *sinks = nullptr, *out;

    explicit check(shim_attention_case given) : c(given) {
        ctx = ggml_init({size_t(1) << 28, nullptr, false});
        q = ggml_new_tensor_4d(ctx, GGML_TYPE_F32, c.key, c.tokens, c.heads, 1);
        k = ggml_new_tensor_4d(ctx, GGML_TYPE_F16, c.key, c.cells, c.kv_heads, 1);
        v = ggml_new_tensor_4d(ctx, GGML_TYPE_F16, c.value, c.cells, c.kv_heads, 1);
        mask = ggml_new_tensor_4d(ctx, GGML_TYPE_F16, c.cells, c.tokens, 1, 1);
        fill();
        out = ggml_flash_attn_ext(ctx, q, k, v, mask, scale(), 0, 0);
        ggml_flash_attn_ext_set_prec(out, GGML_PREC_F32);
        if (c.sinks != 0) {
            sinks = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, c.heads);
            for (int h = 0; h < c.heads; h++) {
                static_cast<float *>(sinks->data)[h] = number();
            }
            ggml_flash_attn_ext_add_sinks(out, sinks);
        }
    }

    ~check() { ggml_free(ctx); }

    float scale() const { return 1 / std::sqrt(float(c.key)); }
    float number() { return 4 * std::normal_distribution<float>()(random); }

    void fill() {
        for (int64_t i = 0; i < ggml_nelements(q); i++) {
            static_cast<float *>(q->data)[i] = number();
        }
        for (ggml_tensor * t : {k, v}) {
            for (int64_t i = 0; i < ggml_nelements(t); i++) {
                static_cast<ggml_fp16_t *>(t->data)[i] = ggml_fp32_to_fp16(number());
            }
        }
        if (c.extreme != 0) {
            fill_extremes();
        }
        // Mask other sequences' cells at the front and in between, and later
        // tokens. All cells are masked for the first token.
        for (int t = 0; t < c.tokens; t++) {
            for (int i = 0; i < c.cells; i++) {
                const bool sees = t > 0 && i >= c.cells / 4 && i % 7 != 3 && i < c.cells - c.tokens + t;
                static_cast<ggml_fp16_t *>(mask->data)[t * c.cells + i] = ggml_fp32_to_fp16(sees ? 0 : -INFINITY);
            }
        }
        // NaN and infinity in a masked cell must have no effect.
        const int64_t broken = c.cells / 4 / 7 * 7 + 7 + 3;
        for (int64_t d = 0; d < c.key; d++) {
            static_cast<ggml_fp16_t *>(k->data)[broken * c.key + d] = ggml_fp32_to_fp16(INFINITY);
        }
        for (int64_t d = 0; d < c.value; d++) {
            static_cast<ggml_fp16_t *>(v->data)[broken * c.value + d] = ggml_fp32_to_fp16(NAN);
        }
    }

    // fill_extremes makes cells with values of one kind each, and a head with zeros.
    void fill_extremes() {
        constexpr uint16_t kinds[] = {0, 1, 0x3ff, 0x7bff, 0xfbff, 0x8001}; // zero, subnormal, largest, and negative ones
        uint16_t * values = static_cast<uint16_t *>(v->data);
        for (int64_t i = 0; i < ggml_nelements(v); i++) {
            const int64_t cell = i / c.value;
            values[i] = cell < c.cells ? 0 : kinds[(cell + i % 2) % std::size(kinds)];
        }
    }

    static double read(const ggml_tensor * t, int64_t i) {
        return ggml_fp16_to_fp32(static_cast<const ggml_fp16_t *>(t->data)[i]);
    }

    // plain computes the expected result of a head and a token.
    std::vector<double> plain(int h, int t) const {
        const int64_t kv = h / (c.heads / c.kv_heads) * int64_t(c.cells);
        std::vector<double> scores(c.cells), sums(c.value);
        double highest = sinks == nullptr ? -INFINITY : static_cast<const float *>(sinks->data)[h];
        for (int i = 0; i < c.cells; i++) {
            double score = read(mask, int64_t(t) * c.cells + i);
            if (std::isinf(score)) {
                scores[i] = score;
                continue;
            }
            for (int d = 0; d < c.key; d++) {
                score += double(static_cast<const float *>(q->data)[(int64_t(h) * c.tokens + t) * c.key + d]) * read(k, (kv + i) * c.key + d) * scale();
            }
            scores[i] = score;
            highest = std::max(highest, score);
        }
        double total = sinks == nullptr ? 0 : std::exp(static_cast<const float *>(sinks->data)[h] - highest);
        for (int i = 0; i < c.cells; i++) {
            if (std::isinf(scores[i])) {
                continue;
            }
            const double weight = std::exp(scores[i] - highest);
            total += weight;
            for (int d = 0; d < c.value; d++) {
                sums[d] += weight * read(v, (kv + i) * c.value + d);
            }
        }
        for (double & sum : sums) {
            sum = total == 0 ? 0 : sum / total;
        }
        return sums;
    }

    bool compute(attention_kernels kernels) { return compute(out, kernels); }

    bool compute(ggml_tensor * result, attention_kernels kernels) {
        const attention_turn mine(kernels);
        ggml_cgraph * graph = ggml_new_graph(ctx);
        ggml_build_forward_expand(graph, result);
        return ggml_graph_compute_with_ctx(ctx, graph, c.threads) == GGML_STATUS_SUCCESS;
    }

    // shuffle gives cells another order.
    void shuffle() {
        std::vector<int64_t> from(c.cells);
        std::iota(from.begin(), from.end(), 0);
        std::shuffle(from.begin(), from.end(), random);
        for (ggml_tensor * t : {k, v, mask}) {
            const int64_t length = t == mask ? 1 : t->ne[0];
            const std::vector<uint16_t> before(static_cast<uint16_t *>(t->data), static_cast<uint16_t *>(t->data) + ggml_nelements(t));
            for (int64_t i = 0; i < ggml_nelements(t); i++) {
                const int64_t cell = i / length % c.cells;
                static_cast<uint16_t *>(t->data)[i] = before[i + (from[cell] - cell) * length];
            }
        }
    }

    int64_t different() {
        if (!compute(attention_kernels::best)) {
            return -1;
        }
        const std::vector<uint32_t> want(static_cast<uint32_t *>(out->data), static_cast<uint32_t *>(out->data) + ggml_nelements(out));
        int64_t different = 0;
        for (const auto kernels : {attention_kernels::rows, attention_kernels::vectors, attention_kernels::best, attention_kernels::rows}) {
            if (!compute(kernels)) {
                return -1;
            }
            for (size_t i = 0; i < want.size(); i++) {
                different += static_cast<uint32_t *>(out->data)[i] != want[i];
            }
            shuffle();
        }
        return different;
    }

    // alone computes tokens each for itself, and counts results with other bits than
    // among the others.
    int64_t alone() {
        if (!compute(attention_kernels::best)) {
            return -1;
        }
        int64_t different = 0;
        for (int t = c.tokens - 1, n = 0; t > 0 && n < 8; t -= 1 + c.tokens / 8, n++) {
            ggml_tensor * its = ggml_view_3d(ctx, q, c.key, 1, c.heads, q->nb[1], q->nb[2], t * q->nb[1]);
            ggml_tensor * own = ggml_flash_attn_ext(ctx, its, k, v, ggml_view_2d(ctx, mask, c.cells, 1, mask->nb[1], t * mask->nb[1]), scale(), 0, 0);
            ggml_flash_attn_ext_set_prec(own, GGML_PREC_F32);
            if (sinks != nullptr) {
                ggml_flash_attn_ext_add_sinks(own, sinks);
            }
            if (!compute(own, attention_kernels::best)) {
                return -1;
            }
            const int64_t results = int64_t(c.heads) * c.value;
            for (int64_t i = 0; i < results; i++) {
                different += static_cast<uint32_t *>(own->data)[i] != static_cast<uint32_t *>(out->data)[t * results + i];
            }
        }
        return different;
    }

    double error() {
        if (!compute(attention_kernels::best)) {
            return -1;
        }
        double largest = 0;
        for (int t = 0; t < c.tokens; t++) {
            for (int h = 0; h < c.heads; h++) {
                const std::vector<double> want = plain(h, t);
                for (int d = 0; d < c.value; d++) {
                    const double got = static_cast<const float *>(out->data)[(int64_t(t) * c.heads + h) * c.value + d];
                    largest = std::isnan(got) ? INFINITY : std::max(largest, std::abs(got - want[d]));
                }
            }
        }
        return largest;
    }
};

} // namespace

double shim_attention_error(struct shim_attention_case c) {
    return guarded([&] {
        shim_attention();
        return check(c).error();
    }, -1.0);
}

int64_t shim_attention_different(struct shim_attention_case c) {
    return guarded([&] {
        shim_attention();
        return check(c).different();
    }, int64_t(-1));
}

int64_t shim_attention_alone(struct shim_attention_case c) {
    return guarded([&] {
        shim_attention();
        return check(c).alone();
    }, int64_t(-1));
}
