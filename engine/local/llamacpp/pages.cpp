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

// advise says that memory that was just asked for is to come in huge pages.
// Where there are none, it comes in small ones. What is smaller than one page
// may be a part of something else.
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

// The type of buffer that weights, the cache and intermediate results are in,
// those that are kept in another order included, is one table of functions.
void shim_huge_pages() {
    static std::once_flag once;
    std::call_once(once, [] {
        ggml_backend_buffer_type_t cpu = ggml_backend_cpu_buffer_type();
        plain = cpu->iface.alloc_buffer;
        cpu->iface.alloc_buffer = allocate_huge;
    });
}
