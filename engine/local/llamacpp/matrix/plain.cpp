//go:build llamacpp

#include "layout.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

namespace matrix {

namespace {

// highest is the largest absolute value; NaN counts as the largest of all.
float highest(const float * x) {
    uint32_t most = 0;
    for (int i = 0; i < unit_columns; i++) {
        uint32_t bits;
        std::memcpy(&bits, x + i, sizeof bits);
        most = std::max(most, bits & 0x7fffffff);
    }
    float value;
    std::memcpy(&value, &most, sizeof value);
    return value;
}

void quantise(const float * x, int64_t width, activation * to, int64_t stride) {
    for (int64_t i = 0; i < width; i += unit_columns, x += unit_columns, to += stride) {
        const float most = highest(x);
        // The reciprocal of a smaller scale is infinite.
        const float by = most < 1e-30f ? 0 : 127 / most;
        to->scale = most < 1e-30f ? 0 : most / 127;
        int sums[2] = {};
        for (int k = 0; k < unit_columns; k++) {
            const float scaled = x[k] * by;
            const int q = std::isfinite(scaled) ? static_cast<int>(std::nearbyint(scaled)) : 0;
            to->quants[k] = static_cast<int8_t>(q);
            sums[k / (unit_columns / 2)] += q;
        }
        to->sum = to->scale * static_cast<float>(sums[0] + sums[1]);
        to->below = -sums[0] - sums[1];
        to->below_first = -sums[0];
    }
}

// activation_of is a number that a weight is multiplied by.
double activation_of(const layout & l, const void * tile, int64_t unit, int column) {
    if (l.floats()) {
        return static_cast<const numbers *>(tile)[unit].x[column];
    }
    const activation & a = static_cast<const activation *>(tile)[unit];
    return static_cast<double>(a.scale) * a.quants[column];
}

void multiply(const layout & l, int64_t width, const void * panel, const void * tile, int tokens, float * out, int64_t stride, int rows) {
    std::vector<float> weights(width);
    for (int r = 0; r < rows; r++) {
        unpack(l, width, panel, r, weights.data());
        for (int t = 0; t < tokens; t++) {
            double sum = 0;
            for (int64_t c = 0; c < width; c++) {
                sum += weights[c] * activation_of(l, tile, c / unit_columns * tokens + t, c % unit_columns);
            }
            out[t * stride + r] = static_cast<float>(sum);
        }
    }
}

} // namespace

const kernels plain = {"plain", [] { return true; }, quantise, multiply};

} // namespace matrix
