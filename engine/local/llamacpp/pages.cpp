//go:build llamacpp

#include "pages.h"
#include "ggml-backend.h"
#include "ggml-backend-impl.h"

#include <cstdint>
#include <mutex>
#ifdef __linux__
#include <sys/mman.h>
#include <unistd.h>
#endif

using allocate = ggml_backend_buffer_t (*)(ggml_backend_buffer_type_t, size_t);

static allocate plain;

// advise asks for huge pages, except for small buffers, which may share a page
// with others.
static void advise(void * base, size_t size) {
#ifdef MADV_HUGEPAGE
    if (size < size_t(2) << 20) {
        return;
    }
    const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    const uintptr_t start = reinterpret_cast<uintptr_t>(base) & ~(page - 1);
    const uintptr_t end = (reinterpret_cast<uintptr_t>(base) + size + page - 1) & ~(page - 1);
    madvise(reinterpret_cast<void *>(start), end - start, MADV_HUGEPAGE);
#else
    (void) base;
    (void) size;
#endif
}

static ggml_backend_buffer_t allocate_huge(ggml_backend_buffer_type_t type, size_t size) {
    ggml_backend_buffer_t buffer = plain(type, size);
    if (buffer != nullptr) {
        advise(ggml_backend_buffer_get_base(buffer), size);
    }
    return buffer;
}

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
