//go:build llamacpp

#include "layout.h"

#define GGML_COMMON_DECL_C // fields of two names without a struct around them
#include "ggml-common.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace matrix {

namespace {

uint8_t low(uint8_t byte) { return byte & 15; }
uint8_t high(uint8_t byte) { return byte >> 4; }

// A dword holds four columns.
uint32_t dword(const void * from, int i) {
    uint32_t x;
    std::memcpy(&x, static_cast<const uint8_t *>(from) + 4 * i, 4);
    return x;
}

constexpr uint32_t low_nibbles = 0x0f0f0f0f;

// quants are those of one row in a unit: its dwords of nibbles or bytes, and of
// the planes of bits above.
struct quants {
    uint32_t dwords[groups];
    uint32_t planes[2];
};

// halves copies nibbles of columns that are 16 apart.
void halves(const uint8_t * from, quants & q) {
    for (int i = 0; i < groups / 2; i++) {
        q.dwords[i] = dword(from, i);
    }
}

// half_of_pair takes the nibbles of one of two units that share bytes.
void half_of_pair(const uint8_t * from, bool second, quants & q) {
    for (int i = 0; i < groups / 2; i++) {
        const uint32_t x = dword(from, i), y = dword(from, i + groups / 2);
        q.dwords[i] = second ? (x >> 4 & low_nibbles) | (y & ~low_nibbles) : (x & low_nibbles) | (y & low_nibbles) << 4;
    }
}

// bit_plane moves bit 4 * group + byte to 8 * byte + group.
uint32_t bit_plane(uint32_t x) {
    uint32_t to = 0;
    for (int byte = 0; byte < 4; byte++) {
        const uint32_t bits = x >> byte & 0x11111111; // a bit in each nibble
        const uint32_t pairs = (bits | bits >> 3) & 0x03030303;
        const uint32_t fours = (pairs | pairs >> 6) & 0x000f000f;
        to |= ((fours | fours >> 12) & 0xff) << (8 * byte);
    }
    return to;
}

void put(uint8_t * head, int part, int row, uint16_t half) {
    std::memcpy(head + (part * panel_rows + row) * 2, &half, 2);
}

// read reads a block as files have it: the quants of a unit, and what is put into
// the head of a step.
void read(const block_q4_0 & b, int, quants & q) { halves(b.qs, q); }
void read(const block_q4_1 & b, int, quants & q) { halves(b.qs, q); }

void read(const block_q5_0 & b, int, quants & q) {
    halves(b.qs, q);
    q.planes[0] = bit_plane(dword(b.qh, 0));
}

void read(const block_q5_1 & b, int, quants & q) {
    halves(b.qs, q);
    q.planes[0] = bit_plane(dword(b.qh, 0));
}

void read(const block_q8_0 & b, int, quants & q) {
    for (int i = 0; i < groups; i++) {
        q.dwords[i] = dword(b.qs, i) ^ 0x80808080; // plus 128
    }
}

void read(const block_iq4_nl & b, int, quants & q) { halves(b.qs, q); }
void read(const block_iq4_xs & b, int unit, quants & q) { halves(b.qs + unit * unit_columns / 2, q); }
void read(const block_mxfp4 & b, int, quants & q) { halves(b.qs, q); }

void read(const block_q4_K & b, int unit, quants & q) { half_of_pair(b.qs + unit / 2 * unit_columns, unit % 2 != 0, q); }

void read(const block_q5_K & b, int unit, quants & q) {
    half_of_pair(b.qs + unit / 2 * unit_columns, unit % 2 != 0, q);
    q.planes[0] = 0;
    for (int i = 0; i < groups; i++) {
        q.planes[0] |= (dword(b.qh, i) >> unit & 0x01010101) << i;
    }
}

void read(const block_q6_K & b, int unit, quants & q) {
    half_of_pair(b.ql + unit / 4 * 64 + unit % 2 * 32, unit % 4 >= 2, q);
    q.planes[0] = q.planes[1] = 0;
    for (int i = 0; i < groups; i++) {
        q.planes[i / 4] |= (dword(b.qh + unit / 4 * 32, i) >> unit % 4 * 2 & 0x03030303) << i % 4 * 2;
    }
}

// scales_and_mins writes 6 bits of each per unit: the low 4 bits of both in a
// byte, the others in a dword per row.
void scales_and_mins(const uint8_t * from, int row, uint8_t * to) {
    uint32_t above = 0;
    for (int u = 0; u < 8; u++) {
        uint8_t scale, min;
        if (u < 4) {
            scale = from[u] & 63;
            min = from[u + 4] & 63;
        } else {
            scale = low(from[u + 4]) | from[u - 4] >> 6 << 4;
            min = high(from[u + 4]) | from[u] >> 6 << 4;
        }
        to[u * panel_rows + row] = low(scale) | static_cast<uint8_t>(min << 4);
        above |= static_cast<uint32_t>(scale >> 4 | min >> 4 << 2) << (4 * u);
    }
    std::memcpy(to + 8 * panel_rows + row * 4, &above, 4);
}

template <typename T> void head(const T & b, int row, uint8_t * to) { put(to, 0, row, b.d); }

template <> void head(const block_q4_1 & b, int row, uint8_t * to) {
    put(to, 0, row, b.d);
    put(to, 1, row, b.m);
}

template <> void head(const block_q5_1 & b, int row, uint8_t * to) {
    put(to, 0, row, b.d);
    put(to, 1, row, b.m);
}

template <> void head(const block_q4_K & b, int row, uint8_t * to) {
    put(to, 0, row, b.d);
    put(to, 1, row, b.dmin);
    scales_and_mins(b.scales, row, to + 4 * panel_rows);
}

template <> void head(const block_q5_K & b, int row, uint8_t * to) {
    put(to, 0, row, b.d);
    put(to, 1, row, b.dmin);
    scales_and_mins(b.scales, row, to + 4 * panel_rows);
}

template <> void head(const block_q6_K & b, int row, uint8_t * to) {
    put(to, 0, row, b.d);
    for (int i = 0; i < 16; i++) {
        to[2 * panel_rows + i * panel_rows + row] = static_cast<uint8_t>(b.scales[i]);
    }
}

// high_bits is where the upper 2 bits of 6-bit scales are; the lower 4 are before them.
constexpr int high_bits = 2 * panel_rows + 4 * panel_rows;

template <> void head(const block_iq4_xs & b, int row, uint8_t * to) {
    put(to, 0, row, b.d);
    std::memcpy(to + 2 * panel_rows + row * 4, b.scales_l, 4);
    std::memcpy(to + high_bits + row * 2, &b.scales_h, 2);
}

template <> void head(const block_mxfp4 & b, int row, uint8_t * to) { to[row] = b.e; }

// place is where the dword of a row is in a vector, one of as many as 16 rows have.
size_t place(int of, int row, int vector) {
    return static_cast<size_t>(row / vector_rows * of + vector) * 64 + row % vector_rows * 4;
}

void store(const layout & l, const quants & q, int row, uint8_t * unit) {
    for (int i = 0; i < l.above % 4; i++) {
        std::memcpy(unit + place(l.above, row, i), &q.planes[i], 4);
    }
    const int dwords = l.above == 4 ? groups : groups / 2;
    for (int i = 0; i < dwords; i++) {
        std::memcpy(unit + l.planes() + place(dwords, row, i), &q.dwords[i], 4);
    }
}

// quant is a quant less its offset.
int quant(const layout & l, const uint8_t * unit, int row, int column) {
    const int group = column / 4, byte = column % 4;
    if (l.above == 4) {
        return unit[place(groups, row, group) + byte] - l.offset;
    }
    const uint8_t pair = unit[l.planes() + place(groups / 2, row, group % 4) + byte];
    uint8_t q = group < 4 ? low(pair) : high(pair);
    if (l.book != nullptr) {
        return l.book->numbers[q];
    }
    if (l.above == 1) {
        q |= (unit[place(1, row, 0) + byte] >> group & 1) << 4;
    } else if (l.above == 2) {
        q |= (unit[place(2, row, group / 4) + byte] >> (group % 4 * 2) & 3) << 4;
    }
    return q - l.offset;
}

float half(const uint8_t * head, int part, int row) {
    ggml_fp16_t x;
    std::memcpy(&x, head + (part * panel_rows + row) * 2, 2);
    return ggml_fp16_to_fp32(x);
}

// half_power is half of 2^exponent, whose bias is 127. It may be subnormal.
float half_power(uint8_t exponent) { return std::ldexp(1.0f, exponent - 128); }

// line is how quants become weights: scale * (quant - offset) + min.
struct line {
    float scale, min;
};

// six_bits are those of a unit's scale and min.
line six_bits(const uint8_t * head, int row, int unit) {
    const uint8_t * at = head + 4 * panel_rows;
    const uint32_t above = dword(at + 8 * panel_rows, row) >> 4 * unit;
    const int scale = low(at[unit * panel_rows + row]) | (above & 3) << 4;
    const int min = high(at[unit * panel_rows + row]) | (above >> 2 & 3) << 4;
    return {half(head, 0, row) * scale, -half(head, 1, row) * min};
}

int six_bits_less_32(const uint8_t * head, int row, int unit) {
    uint16_t above;
    std::memcpy(&above, head + high_bits + row * 2, 2);
    return static_cast<int>((dword(head + 2 * panel_rows, row) >> 4 * unit & 15) | (above >> 2 * unit & 3) << 4) - 32;
}

// line_of is the line of 16 columns of a row in a step.
line line_of(const layout & l, const uint8_t * head, int row, int column) {
    switch (l.scales) {
        case scaling::half_and_min:
            return {half(head, 0, row), half(head, 1, row)};
        case scaling::six_and_mins:
            return six_bits(head, row, column / unit_columns);
        case scaling::six:
            return {half(head, 0, row) * six_bits_less_32(head, row, column / unit_columns), 0};
        case scaling::eight:
            return {half(head, 0, row) * static_cast<int8_t>(head[2 * panel_rows + column / 16 * panel_rows + row]), 0};
        case scaling::exponent:
            return {half_power(head[row]), 0};
        default:
            return {half(head, 0, row), 0};
    }
}

template <const layout & l, typename T>
void pack_blocks(int64_t width, const void * rows, int64_t first, int64_t last, void * panels) {
    static_assert(l.step() == sizeof(T) * panel_rows, "panels are as large as the rows in the file, which memory is planned by");
    const int64_t steps = width / l.columns();
    for (int64_t from = first; from < last; from += panel_rows) {
        uint8_t * panel = static_cast<uint8_t *>(panels) + from / panel_rows * l.panel(width);
        const int count = static_cast<int>(std::min<int64_t>(panel_rows, last - from));
        if (count < panel_rows) {
            std::memset(panel, 0, l.panel(width));
        }
        for (int64_t s = 0; s < steps; s++) {
            uint8_t * step = panel + s * l.step();
            for (int r = 0; r < count; r++) {
                const T & b = static_cast<const T *>(rows)[(from + r) * steps + s];
                head(b, r, step);
                for (int u = 0; u < l.units; u++) {
                    quants q;
                    read(b, u, q);
                    store(l, q, r, step + l.head() + u * l.unit());
                }
            }
        }
    }
}

// pack_floats lays out weights in 16 or 32 bits.
template <typename T> void pack_floats(int64_t width, const void * rows, int64_t first, int64_t last, void * panels) {
    for (int64_t from = first; from < last; from += panel_rows) {
        T * panel = static_cast<T *>(panels) + from * width;
        const int count = static_cast<int>(std::min<int64_t>(panel_rows, last - from));
        if (count < panel_rows) {
            std::memset(panel, 0, width * panel_rows * sizeof *panel);
        }
        for (int r = 0; r < count; r++) {
            const T * row = static_cast<const T *>(rows) + (from + r) * width;
            for (int64_t c = 0; c < width; c++) {
                panel[c * panel_rows + r] = row[c];
            }
        }
    }
}

template <ggml_type type> float float_of(const void * at, int64_t i) {
    switch (type) {
        case GGML_TYPE_F16: return ggml_fp16_to_fp32(static_cast<const ggml_fp16_t *>(at)[i]);
        case GGML_TYPE_BF16: return ggml_bf16_to_fp32(static_cast<const ggml_bf16_t *>(at)[i]);
        default: return static_cast<const float *>(at)[i];
    }
}

template <ggml_type type> void unpack_floats(int64_t width, const void * panels, int64_t row, float * to) {
    const int64_t first = row / panel_rows * panel_rows * width + row % panel_rows;
    for (int64_t c = 0; c < width; c++) {
        to[c] = float_of<type>(panels, first + c * panel_rows);
    }
}

} // namespace

void pack(const layout & l, int64_t width, const void * rows, int64_t first, int64_t last, void * panels) {
    switch (l.type) {
        case GGML_TYPE_Q4_0: return pack_blocks<q4_0, block_q4_0>(width, rows, first, last, panels);
        case GGML_TYPE_Q4_1: return pack_blocks<q4_1, block_q4_1>(width, rows, first, last, panels);
        case GGML_TYPE_Q5_0: return pack_blocks<q5_0, block_q5_0>(width, rows, first, last, panels);
        case GGML_TYPE_Q5_1: return pack_blocks<q5_1, block_q5_1>(width, rows, first, last, panels);
        case GGML_TYPE_Q8_0: return pack_blocks<q8_0, block_q8_0>(width, rows, first, last, panels);
        case GGML_TYPE_Q4_K: return pack_blocks<q4_k, block_q4_K>(width, rows, first, last, panels);
        case GGML_TYPE_Q5_K: return pack_blocks<q5_k, block_q5_K>(width, rows, first, last, panels);
        case GGML_TYPE_Q6_K: return pack_blocks<q6_k, block_q6_K>(width, rows, first, last, panels);
        case GGML_TYPE_IQ4_NL: return pack_blocks<iq4_nl, block_iq4_nl>(width, rows, first, last, panels);
        case GGML_TYPE_IQ4_XS: return pack_blocks<iq4_xs, block_iq4_xs>(width, rows, first, last, panels);
        case GGML_TYPE_MXFP4: return pack_blocks<mxfp4, block_mxfp4>(width, rows, first, last, panels);
        case GGML_TYPE_F32: return pack_floats<float>(width, rows, first, last, panels);
        default: return pack_floats<uint16_t>(width, rows, first, last, panels);
    }
}

void unpack(const layout & l, int64_t width, const void * panels, int64_t row, float * to) {
    switch (l.type) {
        case GGML_TYPE_F16: return unpack_floats<GGML_TYPE_F16>(width, panels, row, to);
        case GGML_TYPE_BF16: return unpack_floats<GGML_TYPE_BF16>(width, panels, row, to);
        case GGML_TYPE_F32: return unpack_floats<GGML_TYPE_F32>(width, panels, row, to);
        default: break;
    }
    const uint8_t * panel = static_cast<const uint8_t *>(panels) + row / panel_rows * l.panel(width);
    const int r = static_cast<int>(row % panel_rows);
    constexpr int half_unit = unit_columns / 2;
    for (int64_t c = 0; c < width; c += half_unit) {
        const uint8_t * step = panel + c / l.columns() * l.step();
        const int column = static_cast<int>(c % l.columns());
        const uint8_t * unit = step + l.head() + column / unit_columns * l.unit();
        const line at = line_of(l, step, r, column);
        for (int i = 0; i < half_unit; i++) {
            to[c + i] = at.scale * static_cast<float>(quant(l, unit, r, column % unit_columns + i)) + at.min;
        }
    }
}

} // namespace matrix
