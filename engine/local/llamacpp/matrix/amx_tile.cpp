//go:build llamacpp && amd64

#include "amx_tile.h"

#include <cpuid.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace matrix::amx_tile {

namespace {

// has reports whether the processor has tiles, and the system saves them.
bool has() {
    constexpr unsigned bfloat16 = 1 << 22, tile = 1 << 24, int8 = 1 << 25, all = bfloat16 | tile | int8;
    constexpr unsigned xsave = 1 << 27, state = 3 << 17;
    unsigned a, b, c, d;
    if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & xsave) == 0 || __get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (d & all) != all) {
        return false;
    }
    unsigned low, high;
    asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & state) == state;
}

// ask asks the system for tiles, for all threads of this process: without its
// permission their instructions are illegal.
bool ask() {
#if defined(__linux__)
    constexpr int get_permission = 0x1022, request_permission = 0x1023, tile_data = 18;
    uint64_t granted = 0;
    return syscall(SYS_arch_prctl, request_permission, tile_data) == 0 && syscall(SYS_arch_prctl, get_permission, &granted) == 0 &&
           (granted >> tile_data & 1) != 0;
#else
    return false;
#endif
}

} // namespace

bool granted() {
    static const bool known = has() && ask();
    return known;
}

} // namespace matrix::amx_tile
