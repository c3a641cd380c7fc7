//go:build llamacpp

#include "buffer.h"
#include "gelu.h"
#include "layout.h"
#include "norm.h"
#include "product.h"

#include "ggml-backend-impl.h"
#include "ggml-backend.h"
#include "ggml-cpu.h"
#include "traits.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>
#include <strings.h>

namespace matrix {

namespace {

std::atomic<bool> chosen, tied, reads;
std::atomic<int> threads; // that lay out
std::atomic<int64_t> held; // bytes

// kernel is ggml's interface for operations with a kernel of their own.
struct kernel : ggml::cpu::tensor_traits {
    bool work_size(int threads, const ggml_tensor * op, size_t & size) override {
        size = product::work_size(op, threads);
        return true;
    }

    bool compute_forward(ggml_compute_params * params, ggml_tensor * op) override {
        product::compute(params, op);
        return true;
    }
};

// after is an operation on what a product computed.
template <void (*run)(ggml_compute_params *, ggml_tensor *)> struct after : ggml::cpu::tensor_traits {
    bool work_size(int, const ggml_tensor *, size_t & size) override {
        size = 0;
        return true;
    }

    bool compute_forward(ggml_compute_params * params, ggml_tensor * op) override {
        run(params, op);
        return true;
    }
};

// misread stands for operations without a kernel on a matrix that is laid out for
// kernels: to ggml its bytes mean something else.
struct misread : ggml::cpu::tensor_traits {
    bool work_size(int, const ggml_tensor *, size_t & size) override {
        size = 0;
        return true;
    }

    bool compute_forward(ggml_compute_params *, ggml_tensor * op) override {
        GGML_ABORT("%s of %s, which has another layout", ggml_op_name(op->op), op->src[0] != nullptr ? op->src[0]->name : "a matrix");
    }
};

struct extra : ggml::cpu::extra_buffer_type {
    kernel products;
    after<gelu::compute> gelus;
    after<norm::compute> norms;
    misread others;

    bool supports_op(ggml_backend_dev_t, const ggml_tensor * op) override;
    ggml::cpu::tensor_traits * get_tensor_traits(const ggml_tensor * op) override;
};

ggml_backend_buffer_type type;

const char * name(ggml_backend_buffer_type_t) { return "CPU_MATRIX"; }

size_t size(ggml_backend_buffer_type_t, const ggml_tensor * t) {
    const layout * l = find(t->type);
    return l == nullptr ? ggml_nbytes(t) : l->size(t->ne[0], t->ne[1]) * t->ne[2];
}

size_t alignment(ggml_backend_buffer_type_t) { return 64; }

// spread calls work for parts of n panels of so many bytes, in threads where that is faster.
template <typename F>
void spread(int64_t n, size_t bytes, F work) {
    constexpr size_t least = size_t(1) << 19; // bytes that take far longer than a thread takes to begin
    const int64_t parts = std::max<int64_t>(std::min<int64_t>(threads, n * bytes / least), 1);
    std::vector<std::thread> others;
    others.reserve(parts);
    int64_t done = 0;
    for (int64_t p = 1; p < parts; p++) {
        const int64_t next = n * p / parts;
        try {
            others.emplace_back(work, done, next);
        } catch (const std::system_error &) { // there is no thread left
            break;
        }
        done = next;
    }
    work(done, n);
    for (std::thread & t : others) {
        t.join();
    }
}

void set(ggml_backend_buffer_t, ggml_tensor * t, const void * data, size_t offset, size_t count) {
    GGML_ASSERT(offset == 0 && count == ggml_nbytes(t));
    if (find(t->type) == nullptr) {
        std::memcpy(t->data, data, count);
        return;
    }
    if (reads) {
        allow_integers(t);
    }
    const layout & l = layout_of(t);
    const int64_t panels = (t->ne[1] + panel_rows - 1) / panel_rows;
    spread(panels * t->ne[2], l.panel(t->ne[0]), [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last;) {
            const int64_t m = i / panels, begin = i % panels, end = std::min(panels, begin + last - i);
            pack(l, t->ne[0], static_cast<const uint8_t *>(data) + m * t->nb[2], begin * panel_rows, std::min(end * panel_rows, t->ne[1]),
                 static_cast<uint8_t *>(t->data) + m * l.size(t->ne[0], t->ne[1]));
            i += end - begin;
        }
    });
}

std::atomic<void (*)(ggml_backend_buffer_t)> free_plain; // the same for all buffers: what allocates them is chosen before the first

void free(ggml_backend_buffer_t buffer) {
    held -= static_cast<int64_t>(buffer->size);
    free_plain.load()(buffer);
}

// allocate makes a buffer of the CPU's own, in huge pages if they were asked for.
ggml_backend_buffer_t allocate(ggml_backend_buffer_type_t, size_t bytes) {
    ggml_backend_buffer_t buffer = ggml_backend_buft_alloc_buffer(ggml_backend_cpu_buffer_type(), bytes);
    if (buffer == nullptr) {
        return nullptr;
    }
    buffer->buft = &type;
    buffer->iface.init_tensor = nullptr;
    buffer->iface.set_tensor = set;
    buffer->iface.get_tensor = nullptr;
    buffer->iface.cpy_tensor = nullptr;
    if (buffer->iface.free_buffer != nullptr) { // a buffer of no bytes has no function
        free_plain = buffer->iface.free_buffer;
        buffer->iface.free_buffer = free;
        held += static_cast<int64_t>(buffer->size);
    }
    return buffer;
}

bool is_ours(const ggml_tensor * t) { return t != nullptr && t->buffer != nullptr && t->buffer->buft == &type; }

bool has_kernel(const ggml_tensor * op) {
    return is_ours(op->src[0]) && op->src[0]->view_src == nullptr && product::has(op);
}

// follows reports whether an operation takes what a product of ours computed, perhaps
// with a bias.
bool follows(const ggml_tensor * op) {
    const ggml_tensor * t = op->src[0];
    while (t != nullptr && (t->op == GGML_OP_ADD || t->op == GGML_OP_ADD_ID)) {
        t = t->src[0];
    }
    return t != nullptr && (t->op == GGML_OP_MUL_MAT || t->op == GGML_OP_MUL_MAT_ID) && is_ours(t->src[0]);
}

// supports_op is asked before a tensor is loaded, and for each operation on it.
bool extra::supports_op(ggml_backend_dev_t, const ggml_tensor * op) {
    const ggml_tensor * x = op->src[1];
    const bool loading = is_ours(op->src[0]) && op->src[0]->data == nullptr;
    // Only the token embeddings are both looked up and multiplied. Others that are
    // looked up may also be read as they are in the file.
    const bool lookup = op->op == GGML_OP_GET_ROWS;
    if (loading && (!chosen || (lookup && (!tied || std::strcmp(op->src[0]->name, "token_embd.weight") != 0)))) {
        return false;
    }
    return has_kernel(op) && (x->buffer == nullptr || ggml_backend_buft_is_host(x->buffer->buft));
}

ggml::cpu::tensor_traits * extra::get_tensor_traits(const ggml_tensor * op) {
    if (has_kernel(op)) {
        return &products;
    }
    if (gelu::has(op) && follows(op)) {
        return &gelus;
    }
    if (norm_of_ours(op)) {
        return &norms;
    }
    for (const ggml_tensor * t : op->src) {
        if (is_ours(t) && find(t->type) != nullptr) {
            return &others;
        }
    }
    return nullptr;
}

} // namespace

ggml_backend_buffer_type_t buffer_type() { return &type; }

bool norm_of_ours(const ggml_tensor * op) { return norm::has(op) && follows(op); }

} // namespace matrix

void matrix_register(void) {
    static std::once_flag once;
    std::call_once(once, [] {
        if (matrix::best() == nullptr) {
            return;
        }
        static matrix::extra instance;
        matrix::type.iface.get_name = matrix::name;
        matrix::type.iface.alloc_buffer = matrix::allocate;
        matrix::type.iface.get_alignment = matrix::alignment;
        matrix::type.iface.get_alloc_size = matrix::size;
        matrix::type.device = ggml_backend_reg_dev_get(ggml_backend_cpu_reg(), 0);
        matrix::type.context = static_cast<ggml::cpu::extra_buffer_type *>(&instance);
        auto & types = ggml_backend_cpu_get_extra_buffer_types();
        types.insert(types.begin(), &matrix::type);
    });
}

void matrix_choose(bool ours, bool tied, bool reads, int32_t threads) {
    matrix::chosen = ours;
    matrix::tied = tied;
    matrix::reads = reads;
    matrix::threads = threads;
}

const char * matrix_instructions(void) {
    const matrix::kernels * k = matrix::best();
    return k == nullptr ? nullptr : k->name;
}

const char * matrix_instructions_for(const char * type, int64_t width) {
    const matrix::kernels * k = matrix::best();
    for (const matrix::layout * l : matrix::layouts) {
        if (k != nullptr && width % matrix::unit_columns == 0 && strcasecmp(type, ggml_type_name(l->type)) == 0) {
            return k->instructions(*l);
        }
    }
    return nullptr;
}

int64_t matrix_bytes(void) { return matrix::held; }
