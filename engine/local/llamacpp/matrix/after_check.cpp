//go:build llamacpp

#include "check.h"
#include "gelu.h"
#include "norm.h"
#include "product.h"

#include "ggml-backend.h"
#include "ggml-cpu.h"
#include "ggml.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace {

constexpr int width = 70, tokens = 400; // not a multiple of a vector

// larger is the larger of two errors. NaN is the largest.
double larger(double most, double error) { return error <= most ? most : std::isnan(error) ? INFINITY : error; }

double exact(double x) { return x / (1 + std::exp(-2 * std::sqrt(2 / std::acos(-1.0)) * x * (1 + 0.044715 * x * x))); }

struct after_graph {
    ggml_context * ctx = ggml_init({16 * ggml_tensor_overhead() + ggml_graph_overhead(), nullptr, true});
    std::vector<ggml_backend_buffer_t> buffers;
    ggml_backend_buffer_type_t weights;

    explicit after_graph(bool ours) : weights(ours ? matrix::buffer_type() : ggml_backend_cpu_buffer_type()) {}
    ~after_graph() {
        for (ggml_backend_buffer_t b : buffers) {
            ggml_backend_buffer_free(b);
        }
        ggml_free(ctx);
    }

    ggml_tensor * place(ggml_tensor * t, ggml_backend_buffer_type_t type, const void * data) {
        buffers.push_back(ggml_backend_buft_alloc_buffer(type, ggml_backend_buft_get_alloc_size(type, t)));
        ggml_backend_tensor_alloc(buffers.back(), t, ggml_backend_buffer_get_base(buffers.back()));
        if (data != nullptr) {
            ggml_backend_tensor_set(t, data, 0, ggml_nbytes(t));
        }
        return t;
    }

    ggml_tensor * on_cpu(ggml_tensor * t, const void * data = nullptr) { return place(t, ggml_backend_cpu_buffer_type(), data); }

    // product copies 64 columns as often as there are rows, all numbers from -12 to 12.
    ggml_tensor * product(int rows) {
        constexpr int columns = 64;
        std::vector<ggml_fp16_t> w(columns * rows);
        for (int r = 0; r < rows; r++) {
            w[r * columns + r % columns] = ggml_fp32_to_fp16(1);
        }
        std::vector<float> x(columns * tokens);
        for (size_t i = 0; i < x.size(); i++) {
            x[i] = -12 + 24.0f * static_cast<float>(i) / static_cast<float>(x.size());
        }
        ggml_tensor * m = place(ggml_new_tensor_2d(ctx, GGML_TYPE_F16, columns, rows), weights, w.data());
        return on_cpu(ggml_mul_mat(ctx, m, on_cpu(ggml_new_tensor_2d(ctx, GGML_TYPE_F32, columns, tokens), x.data())));
    }

    bool compute(ggml_tensor * out) {
        ggml_cgraph * g = ggml_new_graph(ctx);
        ggml_build_forward_expand(g, out);
        ggml_cplan plan = ggml_graph_plan(g, 2, nullptr);
        std::vector<uint8_t> work(plan.work_size);
        plan.work_data = work.data();
        return ggml_graph_compute(g, &plan) == GGML_STATUS_SUCCESS;
    }
};

// difference is the largest one, where it is seen: below 1e-6 next to nothing is.
double difference(const ggml_tensor * out, const ggml_tensor * x, int64_t first, const ggml_tensor * gate, int64_t gate_first) {
    double most = 0;
    for (int64_t t = 0; t < tokens; t++) {
        for (int64_t i = 0; i < width; i++) {
            const auto at = [&](const ggml_tensor * a, int64_t begin) { return static_cast<double>(static_cast<float *>(a->data)[t * a->ne[0] + begin + i]); };
            const double want = exact(at(x, first)) * (gate == nullptr ? 1 : at(gate, gate_first));
            most = larger(most, std::abs(at(out, 0) - want) / (std::abs(want) + 1e-6));
        }
    }
    return most;
}

} // namespace

double matrix_gelu_error(bool ours, int32_t form) {
    after_graph g(ours);
    const bool joined = form == matrix_gelu_joined || form == matrix_gelu_swapped;
    ggml_tensor * x = g.product(joined ? 2 * width : width);
    if (form == matrix_gelu_bias) {
        const std::vector<float> bias(width, 0.5f);
        x = g.on_cpu(ggml_add(g.ctx, x, g.on_cpu(ggml_new_tensor_1d(g.ctx, GGML_TYPE_F32, width), bias.data())));
    }
    ggml_tensor * gate = form == matrix_gelu_split ? g.product(width) : nullptr;
    ggml_tensor * out = form == matrix_gelu_split ? ggml_geglu_split(g.ctx, x, gate)
                        : form == matrix_gelu_joined ? ggml_geglu(g.ctx, x)
                        : form == matrix_gelu_swapped ? ggml_geglu_swapped(g.ctx, x)
                                                      : ggml_gelu(g.ctx, x);
    g.on_cpu(out);
    if (!g.compute(out)) {
        return -1;
    }
    const bool swapped = form == matrix_gelu_swapped;
    return difference(out, x, swapped ? width : 0, joined ? x : gate, joined && !swapped ? width : 0);
}

float matrix_gelu(float x) {
    float y;
    matrix::gelu::row(&x, nullptr, &y, 1);
    return y;
}

double matrix_norm_error(int32_t columns) {
    constexpr float epsilon = 1e-5f;
    after_graph g(true);
    ggml_tensor * x = g.product(columns);
    std::vector<float> rest(static_cast<size_t>(columns) * tokens);
    for (size_t i = 0; i < rest.size(); i++) {
        rest[i] = std::sin(static_cast<float>(i));
    }
    x = g.on_cpu(ggml_add(g.ctx, x, g.on_cpu(ggml_new_tensor_2d(g.ctx, GGML_TYPE_F32, columns, tokens), rest.data())));
    ggml_tensor * out = g.on_cpu(ggml_rms_norm(g.ctx, x, epsilon));
    if (!g.compute(out)) {
        return -1;
    }
    double most = 0;
    for (int64_t t = 0; t < tokens; t++) {
        const float *in = static_cast<float *>(x->data) + t * columns, *got = static_cast<float *>(out->data) + t * columns;
        double squares = 0;
        for (int64_t i = 0; i < columns; i++) {
            squares += static_cast<double>(in[i]) * in[i];
        }
        for (int64_t i = 0; i < columns; i++) {
            const double want = in[i] / std::sqrt(squares / columns + epsilon);
            most = larger(most, std::abs(got[i] - want) / (std::abs(want) + 1e-6));
        }
    }
    return most;
}

bool matrix_norm_ours(bool ours) {
    after_graph g(ours);
    return matrix::norm_of_ours(ggml_rms_norm(g.ctx, g.product(width), 1e-5f));
}
