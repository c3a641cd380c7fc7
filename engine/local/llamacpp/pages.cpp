//go:build llamacpp

#include "pages.h"
#include "ggml-backend.h"
#include "ggml-backend-impl.h"

#include <cstdint>
#include <cstring>
#include <mutex>
#ifdef __linux__
#include <sys/mman.h>
#endif

using allocate = ggml_backend_buffer_t (*)(ggml_backend_buffer_type_t, size_t);

static allocate plain;

#ifdef __linux__

// advise asks for huge pages.
static void advise(void * base, size_t size) {
#ifdef MADV_HUGEPAGE
    if (size >= size_t(2) << 20) {
        madvise(base, size, MADV_HUGEPAGE);
    }
#endif
}

static void unmap(ggml_backend_buffer_t buffer) { munmap(buffer->context, buffer->size); }

// clear gives pages back instead of filling them with zeros: the next access to one finds
// zeros. So the KV cells that nobody has used take no memory, and no time at the start.
static void clear(ggml_backend_buffer_t buffer, uint8_t value) {
    if (value != 0 || madvise(buffer->context, buffer->size, MADV_DONTNEED) != 0) {
        std::memset(buffer->context, value, buffer->size);
    }
}

static ggml_backend_buffer_t allocate_huge(ggml_backend_buffer_type_t type, size_t size) {
    void * base = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) {
        return nullptr;
    }
    advise(base, size);
    ggml_backend_buffer_t buffer = ggml_backend_cpu_buffer_from_ptr(base, size);
    buffer->buft = type;
    buffer->iface.free_buffer = unmap;
    buffer->iface.clear = clear;
    return buffer;
}

#else

static ggml_backend_buffer_t allocate_huge(ggml_backend_buffer_type_t type, size_t size) { return plain(type, size); }

#endif

// All CPU buffers (weights, repacked weights, KV cache, compute) use the functions
// of this buffer type.
void shim_huge_pages() {
    static std::once_flag once;
    std::call_once(once, [] {
        ggml_backend_buffer_type_t cpu = ggml_backend_cpu_buffer_type();
        plain = cpu->iface.alloc_buffer;
        cpu->iface.alloc_buffer = allocate_huge;
    });
}
