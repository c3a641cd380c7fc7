//go:build llamacpp

#include "norm.h"

#include "ggml-cpu-impl.h"
#include "ggml.h"

#include <algorithm>
#include <cmath>
#include <cstring>

// Allow fused multiply-add, which GCC does not by default with -std=c++17.
#if defined(__clang__)
#pragma clang fp contract(fast)
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=fast")
#endif

namespace matrix::norm {

namespace {

// As many doubles as the widest registers have; the compiler divides them for others.
// Several sums hide the latency of additions.
constexpr int lanes = 8, sums = 4;
typedef float floats __attribute__((vector_size(lanes * sizeof(float))));
typedef double doubles __attribute__((vector_size(lanes * sizeof(double))));

inline doubles squares(const float * x, int64_t n) {
    floats v = {};
    std::memcpy(&v, x, n * sizeof(float));
    const doubles wide = __builtin_convertvector(v, doubles);
    return wide * wide;
}

double sum_of_squares(const float * x, int64_t n) {
    doubles sum[sums] = {};
    int64_t i = 0;
    for (; i + sums * lanes <= n; i += sums * lanes) {
        for (int k = 0; k < sums; k++) {
            sum[k] += squares(x + i + k * lanes, lanes);
        }
    }
    for (; i < n; i += lanes) {
        sum[0] += squares(x + i, std::min<int64_t>(lanes, n - i));
    }
    const doubles all = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    double total = 0;
    for (int k = 0; k < lanes; k++) {
        total += all[k];
    }
    return total;
}

inline float * row_of(const ggml_tensor * t, int64_t r) { return reinterpret_cast<float *>(static_cast<char *>(t->data) + r * t->nb[1]); }

} // namespace

void row(const float * x, float * y, int64_t n, float epsilon) {
    const float mean = static_cast<float>(sum_of_squares(x, n) / static_cast<double>(n));
    const float scale = 1.0f / std::sqrt(mean + epsilon);
    for (int64_t i = 0; i < n; i++) {
        y[i] = x[i] * scale;
    }
}

bool has(const ggml_tensor * op) {
    const auto floats = [](const ggml_tensor * t) { return t->type == GGML_TYPE_F32 && ggml_is_contiguous(t); };
    return op->op == GGML_OP_RMS_NORM && floats(op) && floats(op->src[0]);
}

void compute(ggml_compute_params * params, ggml_tensor * op) {
    float epsilon;
    std::memcpy(&epsilon, op->op_params, sizeof epsilon);
    const int64_t rows = ggml_nrows(op), part = (rows + params->nth - 1) / params->nth;
    for (int64_t r = part * params->ith; r < std::min(part * (params->ith + 1), rows); r++) {
        row(row_of(op->src[0], r), row_of(op, r), op->ne[0], epsilon);
    }
}

} // namespace matrix::norm
