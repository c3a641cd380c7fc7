//go:build llamacpp

#include "gelu.h"

#include "ggml-cpu-impl.h"
#include "ggml.h"

#include <algorithm>
#include <cstring>

// Allow fused multiply-add, which GCC does not by default with -std=c++17.
#if defined(__clang__)
#pragma clang fp contract(fast)
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=fast")
#endif

namespace matrix::gelu {

namespace {

// A vector is as many numbers as the widest registers have; the compiler divides it
// for others.
constexpr int lanes = 16;
typedef float vec __attribute__((vector_size(lanes * sizeof(float))));
typedef int32_t ints __attribute__((vector_size(lanes * sizeof(int32_t))));

// exp_of is e to the power of x, for absolute values below 87.5: a power of two, by
// its exponent, times a polynomial.
inline vec exp_of(vec x) {
    constexpr float log2_e = 1.44269504f, round = 12582912; // adding it leaves no fraction
    constexpr float ln2_high = 0.693145752f, ln2_low = 1.42860677e-6f;
    const vec rounded = x * log2_e + round, n = rounded - round;
    const vec r = x - n * ln2_high - n * ln2_low;
    const vec p = 1 + r * (1 + r * (1.0f / 2 + r * (1.0f / 6 + r * (1.0f / 24 + r * (1.0f / 120 + r * (1.0f / 720))))));
    ints exponent, bits;
    std::memcpy(&exponent, &rounded, sizeof exponent);
    std::memcpy(&bits, &p, sizeof bits);
    bits += exponent << 23;
    vec result;
    std::memcpy(&result, &bits, sizeof result);
    return result;
}

// gelu is x/2 * (1 + tanh(u)), the form that ggml's table has, and like it x or 0
// beyond 10.
inline vec gelu(vec x) {
    constexpr float minus_two_root = -1.59576912f, cubic = 0.044715f; // -2 * sqrt(2/pi)
    const vec y = x / (1 + exp_of(minus_two_root * x * (1 + cubic * x * x)));
    const vec high = x >= 10.0f ? x : y;
    return x <= -10.0f ? vec{} : high;
}

inline vec load(const float * from, int64_t n) {
    vec x = {};
    std::memcpy(&x, from, n * sizeof(float));
    return x;
}

inline float * row_of(const ggml_tensor * t, int64_t r) { return reinterpret_cast<float *>(static_cast<char *>(t->data) + r * t->nb[1]); }

inline void step(const float * x, const float * gate, float * y, int64_t n) {
    vec result = gelu(load(x, n));
    if (gate != nullptr) {
        result *= load(gate, n);
    }
    std::memcpy(y, &result, n * sizeof(float));
}

} // namespace

void row(const float * x, const float * gate, float * y, int64_t n) {
    int64_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        step(x + i, gate == nullptr ? nullptr : gate + i, y + i, lanes);
    }
    if (i < n) {
        step(x + i, gate == nullptr ? nullptr : gate + i, y + i, n - i);
    }
}

bool has(const ggml_tensor * op) {
    const bool plain = op->op == GGML_OP_UNARY && ggml_get_unary_op(op) == GGML_UNARY_OP_GELU;
    const bool gated = op->op == GGML_OP_GLU && ggml_get_glu_op(op) == GGML_GLU_OP_GEGLU;
    if (!plain && !gated) {
        return false;
    }
    const auto rows_of_floats = [](const ggml_tensor * t) { return t->type == GGML_TYPE_F32 && ggml_is_contiguous_1(t); };
    return rows_of_floats(op) && rows_of_floats(op->src[0]) && (op->src[1] == nullptr || rows_of_floats(op->src[1]));
}

void compute(ggml_compute_params * params, ggml_tensor * op) {
    const int64_t rows = ggml_nrows(op), width = op->ne[0];
    const bool gated = op->op == GGML_OP_GLU, joined = gated && op->src[1] == nullptr; // both in one row
    const bool swapped = joined && op->op_params[1] != 0;                              // the gate before what it is of
    const ggml_tensor *x = op->src[0], *gate = joined ? x : op->src[1];
    const int64_t last = rows * (params->ith + 1) / params->nth;
    for (int64_t r = rows * params->ith / params->nth; r < last; r++) {
        const float * in = row_of(x, r) + (swapped ? width : 0);
        row(in, gated ? row_of(gate, r) + (joined && !swapped ? width : 0) : nullptr, row_of(op, r), width);
    }
}

} // namespace matrix::gelu
