//go:build llamacpp

// Rows (a token and a query head) are lanes of vectors, so that what is read of a
// KV cell serves them all. A row gets the same bits as from the kernel of rows:
// scores are added up in the same order, and the sums of weights and of values
// are exact. So the result of a token does not depend on the tokens beside it.

#include "attention.h"
#include "attention_amx.h"
#include "attention_row.h"
#include "attention_scores.h"
#include "attention_sums.h"
#include "matrix/buffer.h"
#include "matrix/product.h"
#include "ggml.h"
#include "ggml-backend.h"
#include "ggml-cpu.h"
#include "traits.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>

namespace {

// Scores of a thread's rows. With many cells a tile has fewer rows.
constexpr int64_t most_scores = 1 << 20;

// Values of a thread's KV head, in int32, that are kept for its next tiles.
constexpr int64_t most_kept = 1 << 20;

// min_rows per KV head: below it the kernel of rows is as fast.
constexpr int min_rows = 16;

std::mutex turn;
std::atomic<attention_kernels> enabled; // by an attention_turn

// left is what attention_turn::left_to_ggml reports: of the thread that holds the turn,
// which asks about all operations when it plans a graph.
thread_local bool left;

#if defined(ATTENTION_AMX)
constexpr int most_blocks = amx_sums::blocks;
int64_t most_scratch(int64_t length) { return std::max(vector_sums::scratch(length), amx_sums::scratch(length)); }
#else
constexpr int most_blocks = vector_sums::blocks;
int64_t most_scratch(int64_t length) { return vector_sums::scratch(length); }
#endif

// shape is the shape of an operation and its tiles.
struct shape {
    const ggml_tensor *q, *k, *v, *mask, *sinks;
    int64_t key, value;       // length of a head's key and value
    int64_t tokens, cells, blocks;
    int64_t heads, kv_heads;
    int64_t shared;           // query heads per KV head
    int64_t most_rows, heads_of_tile, tokens_of_tile;
    float scale;

    shape(const ggml_tensor * op, int threads)
        : q(op->src[0]), k(op->src[1]), v(op->src[2]), mask(op->src[3]), sinks(op->src[4]),
          key(k->ne[0]), value(v->ne[0]), tokens(q->ne[1]), cells(k->ne[1]), blocks((cells + tile_cells - 1) / tile_cells), heads(q->ne[2]), kv_heads(k->ne[2]),
          shared(heads / kv_heads), most_rows(std::clamp<int64_t>(most_scores / cells / 16 * 16, 16, tile_rows)),
          heads_of_tile(std::min(shared, most_rows)), tokens_of_tile(divide(threads)),
          scale(parameter(op, 0)) {}

    // divide gives each thread two or more tiles of about the same size.
    int64_t divide(int threads) const {
        const int64_t wanted = tokens * kv_heads * parts() * q->ne[3] / (2 * threads);
        const int64_t most = std::clamp<int64_t>(wanted, 1, most_rows / heads_of_tile);
        const int64_t steps = (tokens + most - 1) / most;
        return (tokens + steps - 1) / steps;
    }

    bool keeps() const { return blocks * values_of(value) <= most_kept; }
    int64_t parts() const { return (shared + heads_of_tile - 1) / heads_of_tile; }
    int64_t steps() const { return (tokens + tokens_of_tile - 1) / tokens_of_tile; }
    int64_t known() const { return steps() * blocks * q->ne[3]; }
    int64_t tiles() const { return kv_heads * parts() * steps() * q->ne[3]; }
};

// supports reports whether this kernel computes the operation: what the kernel of
// rows does, if there are enough of them.
bool supports(const ggml_tensor * op) {
    if (enabled == attention_kernels::rows || row_attention(op) == nullptr) {
        return false;
    }
    const ggml_tensor *q = op->src[0], *k = op->src[1];
    return q->ne[1] > 1 && q->ne[1] * (q->ne[2] / k->ne[2]) >= min_rows;
}

// attended is what the mask says about tokens and a tile of cells.
enum class attended : uint8_t { unknown, none, some, all };

// workspace is the scratch memory of a thread. Rows are the inner dimension.
struct workspace {
    double *sums, *total;
    float *queries, *keys, *lines, *mask, *highest, *largest, *scale, *scores;
    float * highest_of_block; // of each row
    float * largest_of_cell; // of the KV head, in blocks that were measured
    int32_t * products;      // of weights and values
    int32_t * values;        // of blocks, as the products need them
    int32_t * blocks;        // that the tile attends to
    int32_t * measured;      // blocks: for which KV head, and 1
    attended * known;        // of the tokens of a tile and a block, for the tiles of other heads

    // A multiple of a cache line, so that each thread's part is aligned.
    static int64_t size(const shape & s) { return (workspace(s, nullptr).end() + padding * 4 + 63) / 64 * 64; }

    workspace(const shape & s, void * p) {
        char * next = static_cast<char *>(p);
        const auto take = [&](auto *& to, int64_t n) {
            to = reinterpret_cast<std::remove_reference_t<decltype(to)>>(next);
            next += (n * sizeof *to + 63) / 64 * 64;
        };
        take(sums, s.value * tile_rows);
        take(total, tile_rows);
        take(products, most_scratch(s.value));
        take(values, (s.keeps() ? s.blocks : most_blocks) * values_of(s.value));
        take(queries, s.key * tile_rows);
        take(keys, tile_cells * s.key);
        take(lines, 4 * s.value);
        take(mask, tile_cells * tile_rows + lanes);
        take(highest, tile_rows);
        take(largest, tile_rows);
        take(scale, tile_rows);
        take(scores, s.blocks * tile_cells * s.most_rows);
        take(highest_of_block, s.blocks * s.most_rows);
        take(largest_of_cell, s.blocks * tile_cells);
        take(blocks, s.blocks);
        take(measured, s.blocks);
        take(known, s.known());
        last = next;
    }

  private:
    char * last;
    int64_t end() const { return reinterpret_cast<intptr_t>(last); }
};

// look reads the mask of a token.
attended look(const uint16_t * mask, int cells) {
    constexpr uint16_t never = 0xfc00, magnitude = 0x7fff; // minus infinity in fp16
    halves nonzero = {}, different = {};
    const auto count = [&](halves x) {
        nonzero |= x & magnitude;
        different |= x ^ never;
    };
    int c = 0;
    for (; c + half_lanes <= cells; c += half_lanes) {
        count(*reinterpret_cast<const halves *>(mask + c));
    }
    if (c < cells) {
        halves rest = halves{} + never;
        std::memcpy(&rest, mask + c, (cells - c) * sizeof *mask);
        count(rest);
    }
    return !any(different) ? attended::none : !any(nonzero) && cells == tile_cells ? attended::all : attended::some;
}

// tile computes one tile of rows.
template <typename sums> struct tile {
    const shape & s;
    const workspace & w;
    const scores_of_tile scorer;
    sums adder;
    int64_t first_token, tokens, first_head, heads, kv_head, stream;
    int rows, vectors; // of rows
    int count = 0;     // of blocks

    tile(const shape & s, const workspace & w, int64_t number) : s(s), w(w), scorer(w.queries, s.key), adder(w.products, s.value) {
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
        vectors = (rows + lanes - 1) / lanes;
    }

    int64_t token(int row) const { return first_token + row / heads; }
    int64_t head(int row) const { return first_head + row % heads; }
    const uint16_t * mask_of(int64_t token, int64_t cell) const { return ::at<uint16_t>(s.mask, token, 0, stream) + cell; }
    const ggml_fp16_t * key(int64_t cell) const { return ::at<ggml_fp16_t>(s.k, cell, kv_head, stream); }
    const ggml_fp16_t * value(int64_t cell) const { return ::at<ggml_fp16_t>(s.v, cell, kv_head, stream); }
    int cells_at(int64_t cell) const { return static_cast<int>(std::min<int64_t>(tile_cells, s.cells - cell)); }
    float * scores(int block) const { return w.scores + int64_t(block) * tile_cells * vectors * lanes; }

    float * highest(int block) const { return w.highest_of_block + int64_t(block) * vectors * lanes; }

    int64_t cell(int number) const { return int64_t(w.blocks[number]) * tile_cells; }
    float * largest(int number) const { return w.largest_of_cell + cell(number); }

    void load_queries() const {
        std::fill_n(w.queries, s.key * tile_rows, 0.0f);
        for (int r = 0; r < rows; r++) {
            const float * q = ::at<float>(s.q, token(r), head(r), stream);
            for (int64_t d = 0; d < s.key; d++) {
                w.queries[d * tile_rows + r] = q[d] * s.scale;
            }
        }
    }

    // sink is a score without a value.
    float sink(int row) const { return s.sinks == nullptr || row >= rows ? masked : static_cast<const float *>(s.sinks->data)[head(row)]; }

    // bias is what is added to scores: of each cell, or the same of all.
    struct bias {
        const float * rows = nullptr;
        int64_t stride = 0;
    };

    // known is what the mask says about the tokens and the block of a cell.
    attended & known(int64_t cell) const { return w.known[(stream * s.steps() + first_token / s.tokens_of_tile) * s.blocks + cell / tile_cells]; }

    // bias_of reads the mask. It reports whether any token attends to any of the cells.
    bool bias_of(int64_t cell, bias & b) const {
        attended & all = known(cell);
        if (all == attended::unknown || all == attended::some) {
            all = bias_of_some(cell, b);
        }
        return all != attended::none;
    }

    attended bias_of_some(int64_t cell, bias & b) const {
        bool any = false, all = true, some = false;
        for (int64_t t = 0; t < tokens; t++) {
            const attended a = look(mask_of(first_token + t, cell), cells_at(cell));
            any |= a != attended::none;
            all &= a == attended::all;
            some |= a == attended::some;
            std::fill_n(w.mask + t * heads, heads, a == attended::none ? masked : 0);
        }
        if (some) {
            bias_of_each(cell);
        }
        b.rows = all ? nullptr : w.mask;
        b.stride = some ? tile_rows : 0;
        return !any ? attended::none : all ? attended::all : attended::some;
    }

    // The rows of a token follow each other: whole vectors are written, and what is too
    // many is written over by the next token, or cell, or behind the last one.
    void bias_of_each(int64_t cell) const {
        float lines[tile_rows][tile_cells];
        const int cells = cells_at(cell);
        for (int64_t t = 0; t < tokens; t++) {
            to_fp32(mask_of(first_token + t, cell), lines[t], cells);
            std::fill(lines[t] + cells, lines[t] + tile_cells, masked);
        }
        for (int c = 0; c < tile_cells; c++) {
            float * to = w.mask + c * tile_rows;
            for (int64_t t = 0; t < tokens; t++) {
                for (int64_t h = 0; h < heads; h += lanes) {
                    at(to + t * heads + h) = vec{} + lines[t][c];
                }
            }
        }
    }

    // measure finds the largest value of each cell of a block, once for the tiles of
    // a KV head, and keeps the values if there are not too many.
    void measure(int64_t block) const {
        const int32_t by = static_cast<int32_t>(stream * s.kv_heads + kv_head + 1);
        if (w.measured[block] == by) {
            return;
        }
        w.measured[block] = by;
        const int64_t first = block * tile_cells;
        const int cells = cells_at(first);
        float * largest = w.largest_of_cell + first;
        ggml_fp16_t bits[tile_cells] = {};
        for (int c = 0; c < cells; c++) {
            bits[c] = largest_of(value(first + c), s.value);
        }
        to_fp32(bits, largest, tile_cells);
        if (s.keeps()) {
            load_values(first, largest, w.values + block * values_of(s.value));
        }
    }

    // score computes scores, and the highest and the largest value of each row.
    void score(int64_t cell, const bias & b, const float * largest, float * to, float * highest) const {
        const int cells = cells_at(cell);
        for (int c = 0; c < cells; c++) {
            if (cell + tile_cells + c < s.cells) {
                prefetch(key(cell + tile_cells + c), s.key);
            }
            to_fp32(key(cell + c), w.keys + c * s.key, s.key);
        }
        std::fill(w.keys + cells * s.key, w.keys + tile_cells * s.key, 0.0f);
        scorer.multiply(w.keys, vectors, to);
        for (int v = 0; v < vectors; v++) {
            vec most = vec{} + masked, most_value = at(w.largest + v * lanes);
            for (int c = 0; c < tile_cells; c++) {
                vec & x = at(to + (c * vectors + v) * lanes);
                vec counts = vec{} + largest[c];
                if (b.rows != nullptr) {
                    // A masked cell belongs to another sequence: not even its NaN counts.
                    const vec y = at(b.rows + c * b.stride + v * lanes);
                    x = y == masked ? vec{} + masked : x + y;
                    counts = y == masked ? vec{} : counts;
                }
                most = larger(x, most);
                most_value = larger(counts, most_value);
            }
            at(highest + v * lanes) = most;
            at(w.highest + v * lanes) = larger(most, at(w.highest + v * lanes));
            at(w.largest + v * lanes) = most_value;
        }
    }

    void load_values(int64_t cell, const float * largest, int32_t * to) const {
        const int cells = cells_at(cell);
        float scales[tile_cells];
        for (int c = 0; c < tile_cells; c += lanes) {
            at(scales + c) = scale_of(at(largest + c), value_one);
        }
        for (int c = 0; c < tile_cells; c += 4) {
            for (int i = 0; i < 4; i++) {
                load_value(cell, c + i, cells, w.lines + i * s.value);
            }
            for (int64_t d = 0; d < s.value; d += lanes) {
                ints x[4];
                for (int i = 0; i < 4; i++) {
                    x[i] = whole(at(w.lines + i * s.value + d), vec{} + scales[c + i]);
                }
                adder.value(c, d, x, to);
            }
        }
        adder.keep(to);
    }

    void load_value(int64_t cell, int c, int cells, float * to) const {
        if (c < cells) {
            if (cell + tile_cells + c < s.cells) {
                prefetch(value(cell + tile_cells + c), s.value);
            }
            to_fp32(value(cell + c), to, s.value);
        } else {
            std::fill_n(to, s.value, 0.0f);
        }
    }

    // load_weights makes whole numbers of a block's weights. Far cells often have
    // weights that are too small for one, or for a high part.
    void load_weights(int number, int block) {
        for (int v = 0; v < vectors; v++) {
            const vec most = at(w.highest + v * lanes);
            const bool any = bits_of(at(highest(block) + v * lanes) - most >= least_weighed) != 0;
            adder.weighed(number, v, any ? load_weights(number, v, scores(block) + v * lanes, largest(block)) : 0);
        }
    }

    // load_weights is for a vector of rows. It returns the bits that any weight has.
    int32_t load_weights(int number, int v, const float * scores, const float * largest) const {
        const vec most = at(w.highest + v * lanes), scale = at(w.scale + v * lanes);
        ints sum = {}, any = {};
        const auto weigh = [&](int c) {
            const vec x = weight_of(at(scores + c * vectors * lanes) - most);
            sum += whole_weights(x);
            const ints y = whole_weight(x, largest[c] * scale);
            any |= y;
            return y;
        };
        for (int c = 0; c < tile_cells; c += 4) {
            const ints x[4] = {weigh(c), weigh(c + 1), weigh(c + 2), weigh(c + 3)};
            adder.weigh(number, v, c, x);
        }
        add_exactly<0>(ints{}, sum, w.total + v * lanes);
        return bits_of(any);
    }

    // start takes sinks into account.
    void start() {
        for (int r = 0; r < vectors * lanes; r++) {
            w.highest[r] = sink(r);
            w.largest[r] = 0;
        }
        for (int64_t block = 0; block < s.blocks; block++) {
            bias b;
            if (bias_of(block * tile_cells, b)) {
                measure(block);
                w.blocks[count] = static_cast<int32_t>(block);
                score(cell(count), b, largest(count), scores(count), highest(count));
                count++;
            }
        }
        for (int r = 0; r < vectors * lanes; r++) {
            const bool attends = w.highest[r] != masked;
            w.total[r] = s.sinks != nullptr && attends && r < rows ? weight_of(vec{} + (sink(r) - w.highest[r]))[0] / weight_unit : 0;
            w.highest[r] = attends ? w.highest[r] : 0; // all of it is masked
        }
        for (int v = 0; v < vectors; v++) {
            at(w.scale + v * lanes) = scale_of(at(w.largest + v * lanes), weight_one);
        }
        std::fill_n(w.sums, s.value * tile_rows, 0.0);
    }

    void store(ggml_tensor * out) const {
        for (int r = 0; r < rows; r++) {
            const double by = result_scale(w.largest[r], w.total[r]);
            float * y = const_cast<float *>(::at<float>(out, head(r), token(r), stream));
            for (int64_t d = 0; d < s.value; d++) {
                y[d] = static_cast<float>(w.sums[d * tile_rows + r] * by);
            }
        }
    }

    void add(int first, int number) {
        const int32_t * values[sums::blocks];
        for (int i = 0; i < number; i++) {
            const int block = first + i;
            load_weights(i, block);
            int32_t * v = w.values + (s.keeps() ? w.blocks[block] : i) * values_of(s.value);
            if (!s.keeps()) {
                load_values(cell(block), largest(block), v);
            }
            values[i] = v;
        }
        adder.add(values, number, vectors, w.sums);
    }

    void compute(ggml_tensor * out) {
        load_queries();
        start();
        constexpr int most = sums::blocks;
        for (int first = 0; first < count; first += most) {
            add(first, std::min(most, count - first));
        }
        store(out);
    }
};

// attention is ggml's interface for operations with a kernel of their own.
struct attention : ggml::cpu::tensor_traits {
    bool work_size(int threads, const ggml_tensor * op, size_t & size) override {
        size = threads * workspace::size(shape(op, threads));
        return true;
    }

    bool compute_forward(ggml_compute_params * params, ggml_tensor * op) override {
        const shape s(op, params->nth);
        const int64_t size = workspace::size(s);
        if (params->wsize < static_cast<size_t>(params->nth * size)) { // tiles were disabled when the graph was planned
            left = true;
            return false;
        }
        const workspace w(s, static_cast<char *>(params->wdata) + params->ith * size);
        std::fill_n(w.measured, s.blocks, 0);
        std::fill_n(w.known, s.known(), attended::unknown);
        if (params->ith == 0) {
            ggml_threadpool_chunk_set(params->threadpool, params->nth);
        }
        ggml_barrier(params->threadpool);
#if defined(ATTENTION_AMX)
        if (enabled == attention_kernels::best && matrix::amx_tile::granted()) {
            const matrix::amx_tile::registers registers(16, 0);
            compute_tiles<amx_sums>(params, op, s, w);
            return true;
        }
#endif
        compute_tiles<vector_sums>(params, op, s, w);
        return true;
    }

  private:
    template <typename sums> static void compute_tiles(ggml_compute_params * params, ggml_tensor * op, const shape & s, const workspace & w) {
        for (int64_t i = params->ith; i < s.tiles(); i = ggml_threadpool_chunk_add(params->threadpool, 1)) {
            tile<sums>(s, w, i).compute(op);
        }
    }
};

// mixes reports whether ggml may compute a token in another way beside others.
bool mixes(const ggml_tensor * op) {
    return op->op == GGML_OP_MUL_MAT || op->op == GGML_OP_MUL_MAT_ID || op->op == GGML_OP_FLASH_ATTN_EXT;
}

// registration is a buffer type without buffers: it only provides the kernel. It is
// asked for what package matrix does not compute, before those of ggml.
struct registration : ggml::cpu::extra_buffer_type {
    attention kernel;

    bool supports_op(ggml_backend_dev_t, const ggml_tensor *) override { return false; }

    ggml::cpu::tensor_traits * get_tensor_traits(const ggml_tensor * op) override {
        ggml::cpu::tensor_traits * found = supports(op) ? &kernel : row_attention(op);
        if (found == nullptr && mixes(op)) {
            left = true;
        }
        return found;
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
        auto & types = ggml_backend_cpu_get_extra_buffer_types();
        const bool behind = !types.empty() && types[0] == matrix::buffer_type();
        types.insert(types.begin() + behind, &type);
    });
}

attention_turn::attention_turn(attention_kernels kernels) : lock(turn) {
    enabled = kernels;
    left = false;
}

attention_turn::~attention_turn() { enabled = attention_kernels::rows; }

bool attention_turn::left_to_ggml() const { return left; }
