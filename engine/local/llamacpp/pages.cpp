//go:build llamacpp

#include "pages.h"
#include "ggml-backend.h"
#include "ggml-backend-impl.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <vector>
#ifdef __linux__
#include <sys/mman.h>
#include <unistd.h>
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

static bool granted; // huge pages
static std::atomic<void (*)(ggml_backend_buffer_t)> drop; // deletes a buffer, not its memory

// Buffers that were cleared, and are in small pages so far.
static std::mutex mutex;
static std::vector<ggml_backend_buffer_t> cleared;
static std::atomic<bool> any;

static void forget(ggml_backend_buffer_t buffer) {
    std::lock_guard<std::mutex> lock(mutex);
    cleared.erase(std::remove(cleared.begin(), cleared.end(), buffer), cleared.end());
}

static void unmap(ggml_backend_buffer_t buffer) {
    forget(buffer);
    munmap(buffer->context, buffer->size);
    drop.load()(buffer);
}

// clear gives pages back instead of filling them with zeros: the next access to one finds
// zeros. So the KV cells that nobody has used take no memory, and no time at the start.
// The first token touches a page for each layer's keys and values. In huge pages the
// kernel would zero 2 MB for each, as long as a small model takes to load.
static void clear(ggml_backend_buffer_t buffer, uint8_t value) {
    if (value != 0 || madvise(buffer->context, buffer->size, MADV_DONTNEED) != 0) {
        std::memset(buffer->context, value, buffer->size);
        return;
    }
    madvise(buffer->context, buffer->size, MADV_NOHUGEPAGE);
    forget(buffer);
    std::lock_guard<std::mutex> lock(mutex);
    cleared.push_back(buffer);
    any = true;
}

// join makes huge pages of what has been touched in small ones. A kernel that cannot do it
// at once does it in the background.
static void join(void * base, size_t size) {
#ifndef MADV_COLLAPSE
    constexpr int MADV_COLLAPSE = 25; // Linux 6.1
#endif
    constexpr uintptr_t huge = uintptr_t(2) << 20;
    const uintptr_t first = (reinterpret_cast<uintptr_t>(base) + huge - 1) / huge * huge, end = reinterpret_cast<uintptr_t>(base) + size;
    std::vector<unsigned char> resident(huge / sysconf(_SC_PAGESIZE));
    for (uintptr_t at = first; at + huge <= end; at += huge) {
        void * region = reinterpret_cast<void *>(at);
        const bool touched = mincore(region, huge, resident.data()) == 0 &&
                             std::any_of(resident.begin(), resident.end(), [](unsigned char r) { return (r & 1) != 0; });
        if (touched && madvise(region, huge, MADV_COLLAPSE) != 0) {
            return;
        }
    }
}

void shim_join_pages() {
    if (!granted || !any.exchange(false)) {
        return;
    }
    std::lock_guard<std::mutex> lock(mutex);
    for (ggml_backend_buffer_t b : cleared) {
        advise(b->context, b->size);
        join(b->context, b->size);
    }
    cleared.clear();
}

static ggml_backend_buffer_t allocate_huge(ggml_backend_buffer_type_t type, size_t size) {
    void * base = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) {
        return nullptr;
    }
    advise(base, size);
    ggml_backend_buffer_t buffer = ggml_backend_cpu_buffer_from_ptr(base, size);
    drop = buffer->iface.free_buffer;
    buffer->buft = type;
    buffer->iface.free_buffer = unmap;
    buffer->iface.clear = clear;
    return buffer;
}

#else

void shim_join_pages() {}

static ggml_backend_buffer_t allocate_huge(ggml_backend_buffer_type_t type, size_t size) { return plain(type, size); }

#endif

// All CPU buffers (weights, repacked weights, KV cache, compute) use the functions
// of this buffer type.
void shim_huge_pages(bool are_granted) {
    static std::once_flag once;
    std::call_once(once, [=] {
#ifdef __linux__
        granted = are_granted;
#endif
        ggml_backend_buffer_type_t cpu = ggml_backend_cpu_buffer_type();
        plain = cpu->iface.alloc_buffer;
        cpu->iface.alloc_buffer = allocate_huge;
    });
}
