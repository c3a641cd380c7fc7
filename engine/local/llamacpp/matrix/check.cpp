//go:build llamacpp

#include "check.h"
#include "buffer.h"
#include "layout.h"
#include "output.h"
#include "product.h"

#include "ggml-alloc.h"
#include "ggml-backend.h"
#include "ggml-cpu.h"
#include "ggml.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace matrix {

namespace {

enum values {
    usual,
    zeros,            // weights and activations of some units
    subnormal,        // scales and activations
    small_scales,     // subnormal ones, of usual activations
    largest,          // scales, quants and activations
    nan_row,          // the scales of one row of weights are NaN
    nan_token,        // an activation of one token is NaN, another's is infinite
};

constexpr uint16_t half_nan = 0x7e00, half_largest = 0x7bff, half_smallest = 0x0001;

struct check {
    matrix_case c;
    const layout & l;
    std::mt19937 random{7};
    std::vector<uint8_t> blocks;
    std::vector<float> x;
    std::vector<int32_t> ids; // experts by token
    std::vector<float> weights; // as ggml unpacks them

    check(const matrix_case & c, const layout & l) : c(c), l(l) {
        fill_blocks();
        fill_activations();
        for (int t = 0; t < c.tokens * c.used; t++) {
            ids.push_back(static_cast<int32_t>((t * 5 + t / c.used) % c.experts));
        }
    }

    int matrices() const { return std::max(c.experts, 1); }
    size_t row_size() const { return ggml_row_size(l.type, c.width); }
    int columns() const { return static_cast<int>(ggml_blck_size(l.type)); }
    float number() { return std::normal_distribution<float>()(random); }

    // scale is an fp16 scale of a block, or a weight that is no quant.
    uint16_t scale(int row) {
        switch (c.values) {
            case zeros:
                return random() % 2 == 0 ? 0 : ggml_fp32_to_fp16(number());
            case subnormal:
            case small_scales:
                return random() % 2 == 0 ? half_smallest : static_cast<uint16_t>(random() % 0x400);
            case largest:
                return half_largest;
            case nan_row:
                return row == 1 ? half_nan : ggml_fp32_to_fp16(number());
            default:
                return ggml_fp32_to_fp16(number());
        }
    }

    // exponent is the scale of a block that has no other. No value of it is NaN.
    uint8_t exponent() {
        switch (c.values) {
            case zeros:
                return random() % 2 == 0 ? 0 : 127;
            case subnormal:
            case small_scales:
                return random() % 4;
            case largest:
                return 252; // times 12 it is finite
            default:
                return static_cast<uint8_t>(122 + random() % 9);
        }
    }

    // largest_byte has the largest quants, or those of the largest numbers.
    uint8_t largest_byte() const { return l.book == &iq4 ? 0 : 0xff; }

    void fill_blocks() {
        const size_t size = ggml_type_size(l.type);
        const int64_t per_row = c.width / columns(), rows = int64_t(c.rows) * matrices();
        blocks.resize(rows * row_size());
        for (uint8_t & byte : blocks) {
            byte = static_cast<uint8_t>(c.values == largest ? largest_byte() : random());
        }
        weights.resize(rows * c.width);
        for (int64_t r = 0; r < rows; r++) {
            for (int64_t i = 0; i < per_row; i++) {
                put_scales(blocks.data() + r * row_size() + i * size, static_cast<int>(r % c.rows));
            }
            read(blocks.data() + r * row_size(), weights.data() + r * c.width);
        }
    }

    // read is what ggml reads a row as.
    void read(const uint8_t * row, float * to) const {
        if (l.type == GGML_TYPE_F32) { // for which ggml has no function
            std::memcpy(to, row, c.width * sizeof *to);
            return;
        }
        ggml_get_type_traits(l.type)->to_float(row, to, c.width);
    }

    void put_scales(uint8_t * block, int row) {
        if (l.scales == scaling::exponent) {
            *block = exponent();
            return;
        }
        uint16_t d = scale(row), m = scale(row);
        if (l.type == GGML_TYPE_F32) {
            const float weight = ggml_fp16_to_fp32(d);
            std::memcpy(block, &weight, sizeof weight);
            return;
        }
        if (l.type == GGML_TYPE_BF16) {
            d = ggml_fp32_to_bf16(ggml_fp16_to_fp32(d)).bits;
        }
        if (l.type == GGML_TYPE_Q6_K) {
            std::memcpy(block + ggml_type_size(l.type) - 2, &d, 2);
            return;
        }
        std::memcpy(block, &d, 2);
        if (l.mins()) {
            std::memcpy(block + 2, &m, 2);
        }
    }

    // inputs are the rows of activations of a token.
    int inputs() const { return c.own != 0 ? c.used : 1; }

    // These make products that are neither nothing nor infinite.
    float of_small_scales() const { return l.scales == scaling::exponent ? 1e30f : 1; }
    float of_largest_scales() const { return l.scales == scaling::exponent ? 1e-5f : 1e25f; }

    void fill_activations() {
        x.resize(int64_t(c.tokens) * inputs() * c.width);
        for (int64_t i = 0; i < static_cast<int64_t>(x.size()); i++) {
            const bool some = i / unit_columns % 2 == 0;
            x[i] = number() * (c.values == small_scales ? of_small_scales() : 1);
            if (c.values == zeros && some) {
                x[i] = 0;
            } else if (c.values == subnormal) {
                x[i] *= some ? 1e-40f : 1e-33f;
            } else if (c.values == largest) {
                x[i] = of_largest_scales() * (x[i] < 0 ? -1 : 1);
            }
        }
        if (c.values == nan_token) {
            x[c.width / 2] = std::numeric_limits<float>::quiet_NaN();
            x[x.size() - 1] = std::numeric_limits<float>::infinity();
        }
    }

    // want is a product in double precision and, in of, the sum of absolute ones.
    double want(const float * w, const std::vector<activation> & a, const float * x, double & of) const {
        double sum = 0;
        of = 0;
        for (int64_t k = 0; k < c.width; k++) {
            const activation & unit = a[k / unit_columns];
            const double by = l.floats() ? x[k] : static_cast<double>(unit.scale) * unit.quants[k % unit_columns];
            const double product = w[k] * by;
            sum += product;
            of += std::abs(product);
        }
        return sum;
    }

    // smallest is what the sums of a product of nothing may differ by.
    static constexpr double smallest = 1e-30;

    // difference compares a result of one row and one token. NaN is right where
    // NaN went in, and nowhere else.
    double difference(double got, const float * w, const std::vector<activation> & a, const float * x) const {
        double of;
        const double expected = want(w, a, x, of);
        if (!std::isfinite(expected)) {
            return std::isfinite(got) ? INFINITY : 0;
        }
        return std::isfinite(got) ? std::abs(got - expected) / (of + smallest) : INFINITY;
    }

    std::vector<float> compute(int first, int tokens) const;
    double error() const;
    double row_error() const;
    int64_t different() const;
    int64_t part_different() const;
    double compare(const float * out) const;
};

// graph computes one operation.
struct graph {
    ggml_context * ctx;
    std::vector<ggml_backend_buffer_t> buffers;

    graph() : ctx(ggml_init({16 * ggml_tensor_overhead() + ggml_graph_overhead(), nullptr, true})) {}

    ~graph() {
        for (ggml_backend_buffer_t b : buffers) {
            ggml_backend_buffer_free(b);
        }
        ggml_free(ctx);
    }

    void place(ggml_tensor * t, ggml_backend_buffer_type_t type, const void * data) {
        ggml_backend_buffer_t b = ggml_backend_buft_alloc_buffer(type, ggml_backend_buft_get_alloc_size(type, t));
        buffers.push_back(b);
        ggml_backend_tensor_alloc(b, t, ggml_backend_buffer_get_base(b));
        if (data != nullptr) {
            ggml_backend_tensor_set(t, data, 0, ggml_nbytes(t));
        }
    }

    bool compute(ggml_tensor * out, int threads) {
        ggml_cgraph * g = ggml_new_graph(ctx);
        ggml_build_forward_expand(g, out);
        ggml_cplan plan = ggml_graph_plan(g, threads, nullptr);
        std::vector<uint8_t> work(plan.work_size);
        plan.work_data = work.data();
        return ggml_graph_compute(g, &plan) == GGML_STATUS_SUCCESS;
    }
};

// compute multiplies some of the tokens. The result is empty if ggml fails.
std::vector<float> check::compute(int first, int tokens) const {
    graph g;
    ggml_backend_buffer_type_t cpu = ggml_backend_cpu_buffer_type();
    ggml_tensor * w = ggml_new_tensor_3d(g.ctx, l.type, c.width, c.rows, matrices());
    ggml_tensor * in = ggml_new_tensor_3d(g.ctx, GGML_TYPE_F32, c.width, c.experts > 0 ? inputs() : tokens, c.experts > 0 ? tokens : 1);
    g.place(w, c.ggml != 0 ? cpu : buffer_type(), blocks.data());
    if (c.integers != 0) {
        allow_integers(w);
    }
    g.place(in, cpu, x.data() + int64_t(first) * inputs() * c.width);
    ggml_tensor * out;
    if (c.experts > 0) {
        ggml_tensor * chosen = ggml_new_tensor_2d(g.ctx, GGML_TYPE_I32, c.used, tokens);
        g.place(chosen, cpu, ids.data() + int64_t(first) * c.used);
        out = ggml_mul_mat_id(g.ctx, w, in, chosen);
    } else {
        out = ggml_mul_mat(g.ctx, w, in);
    }
    ggml_set_name(out, "result_output"); // what llama.cpp calls the output layer's
    g.place(out, cpu, nullptr);
    if (!g.compute(out, c.threads)) {
        return {};
    }
    const float * results = static_cast<const float *>(out->data);
    return std::vector<float>(results, results + ggml_nelements(out));
}

double check::error() const {
    const std::vector<float> got = compute(0, c.tokens);
    return got.empty() ? -1 : compare(got.data());
}

// row_difference is the largest one between a row and the weights, relative to them.
// NaN is right where NaN is.
double row_difference(const float * got, const float * want, int width) {
    double most = 0;
    for (int k = 0; k < width; k++) {
        const double difference = std::abs(static_cast<double>(got[k]) - want[k]) / (std::abs(want[k]) + 1e-44);
        most = std::max(most, std::isnan(want[k]) ? (std::isnan(got[k]) ? 0 : INFINITY) : std::isnan(difference) ? INFINITY : difference);
    }
    return most;
}

double check::row_error() const {
    graph g;
    ggml_backend_buffer_type_t cpu = ggml_backend_cpu_buffer_type();
    std::vector<int32_t> rows;
    for (int t = 0; t < c.tokens; t++) {
        const int32_t row = (t * 37 + c.rows - 1) % c.rows;
        rows.push_back(row == 1 ? 0 : row);
    }
    ggml_tensor * w = ggml_new_tensor_2d(g.ctx, l.type, c.width, c.rows);
    ggml_tensor * chosen = ggml_new_tensor_1d(g.ctx, GGML_TYPE_I32, c.tokens);
    g.place(w, buffer_type(), blocks.data());
    g.place(chosen, cpu, rows.data());
    ggml_tensor * out = ggml_get_rows(g.ctx, w, chosen);
    g.place(out, cpu, nullptr);
    if (!g.compute(out, c.threads)) {
        return -1;
    }
    double most = 0;
    for (int t = 0; t < c.tokens; t++) {
        const float * got = static_cast<const float *>(out->data) + int64_t(t) * c.width;
        most = std::max(most, row_difference(got, weights.data() + int64_t(rows[t]) * c.width, c.width));
        most = std::any_of(got, got + c.width, [](float x) { return std::isnan(x); }) ? INFINITY : most;
    }
    return most;
}

int64_t check::different() const {
    const std::vector<float> together = compute(0, c.tokens);
    const size_t size = together.size() / c.tokens;
    int64_t different = together.empty() ? -1 : 0;
    for (int t = 0; t < c.tokens; t++) {
        const std::vector<float> alone = compute(t, 1);
        if (alone.size() != size) {
            return -1;
        }
        for (size_t i = 0; i < size; i++) {
            different += std::memcmp(&alone[i], &together[t * size + i], sizeof(float)) != 0;
        }
    }
    return different;
}

int64_t check::part_different() const {
    std::vector<int32_t> behind, rows;
    std::vector<bool> wanted(int64_t(c.tokens) * c.rows);
    for (int t = 0; t < c.tokens; t++) {
        const size_t before = rows.size();
        for (int r = 0; r < c.rows && t % 3 != 2; r++) {
            if (t % 2 == 0 ? r == (t * 37 + c.rows - 1) % c.rows : (r * 31 + t) % 7 == 0) {
                rows.push_back(r);
                wanted[int64_t(t) * c.rows + r] = true;
            }
        }
        behind.push_back(static_cast<int32_t>(rows.size()));
        for (int r = 0; r < c.rows && rows.size() == before; r++) { // all
            wanted[int64_t(t) * c.rows + r] = true;
        }
    }
    const std::vector<float> all = compute(0, c.tokens);
    matrix_want(c.tokens, behind.data(), rows.data());
    const std::vector<float> part = compute(0, c.tokens);
    matrix_want_all();
    if (all.empty() || part.size() != all.size()) {
        return -1;
    }
    int64_t different = 0, left_out = 0;
    for (size_t i = 0; i < all.size(); i++) {
        const bool none = part[i] == -INFINITY;
        left_out += none;
        different += wanted[i] ? std::memcmp(&all[i], &part[i], sizeof(float)) != 0 : !none && std::memcmp(&all[i], &part[i], sizeof(float)) != 0;
    }
    return c.rows > 3 * panel_rows && left_out == 0 ? -1 : different;
}

double check::compare(const float * out) const {
    double most = 0;
    std::vector<activation> a(c.width / unit_columns);
    const int used = std::max(c.used, 1);
    for (int t = 0; t < c.tokens; t++) {
        for (int u = 0; u < used; u++) {
            const float * in = x.data() + (int64_t(t) * inputs() + u % inputs()) * c.width;
            plain.quantise(in, c.width, a.data(), 1);
            const int64_t matrix = c.experts > 0 ? ids[t * used + u] : 0;
            for (int r = 0; r < c.rows; r++) {
                const double got = out[(int64_t(t) * used + u) * c.rows + r];
                most = std::max(most, difference(got, weights.data() + (matrix * c.rows + r) * c.width, a, in));
            }
        }
    }
    return most;
}

} // namespace

} // namespace matrix

using matrix::check;

static const matrix::layout * named(const char * type) {
    for (const matrix::layout * l : matrix::layouts) {
        if (std::strcmp(ggml_type_name(l->type), type) == 0) {
            return l;
        }
    }
    return nullptr;
}

double matrix_error(struct matrix_case c) {
    const matrix::layout * l = named(c.type);
    return l == nullptr ? -1 : check(c, *l).error();
}

int64_t matrix_different(struct matrix_case c) {
    const matrix::layout * l = named(c.type);
    return l == nullptr ? -1 : check(c, *l).different();
}

int64_t matrix_part_different(struct matrix_case c) {
    const matrix::layout * l = named(c.type);
    return l == nullptr ? -1 : check(c, *l).part_different();
}

double matrix_lookup_error(struct matrix_case c) {
    const matrix::layout * l = named(c.type);
    if (l == nullptr) {
        return -1;
    }
    const check given(c, *l);
    std::vector<uint8_t> panels(l->size(c.width, c.rows));
    matrix::pack(*l, c.width, given.blocks.data(), 0, c.rows, panels.data());
    std::vector<float> row(c.width);
    double most = 0;
    for (int r = 0; r < c.rows; r++) {
        matrix::unpack(*l, c.width, panels.data(), r, row.data());
        most = std::max(most, matrix::row_difference(row.data(), given.weights.data() + int64_t(r) * c.width, c.width));
    }
    return most;
}

double matrix_row_error(struct matrix_case c) {
    const matrix::layout * l = named(c.type);
    return l == nullptr ? -1 : check(c, *l).row_error();
}

int64_t matrix_quantise_error(struct matrix_case c) {
    const matrix::layout * l = named(c.type);
    if (l == nullptr) {
        return -1;
    }
    const check given(c, *l);
    const int64_t units = c.width / matrix::unit_columns;
    std::vector<matrix::activation> got(units), want(units);
    int64_t different = 0;
    for (int t = 0; t < c.tokens; t++) {
        const float * x = given.x.data() + int64_t(t) * c.width;
        matrix::best()->quantise(x, c.width, got.data(), 1);
        matrix::plain.quantise(x, c.width, want.data(), 1);
        for (int64_t u = 0; u < units; u++) {
            const bool finite = std::isfinite(want[u].scale);
            different += finite ? std::memcmp(&got[u], &want[u], sizeof got[u]) != 0 : std::isfinite(got[u].scale);
        }
    }
    return different;
}

bool matrix_use(const char * name) { return matrix::use(name); }
