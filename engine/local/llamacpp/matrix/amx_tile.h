// Registers of AMX: eight tiles of up to 16 rows of 64 bytes. The instructions are written
// in assembly: those of the compiler do not say which memory they read.
#pragma once

#include <cstdint>

namespace matrix::amx_tile {

// granted reports whether the processor has AMX, and the system lets this process use it.
bool granted();

template <int r> inline void load(const void * from, int64_t stride) {
    asm volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(from), "r"(stride), "i"(r) : "memory");
}

template <int r> inline void store(void * to, int64_t stride) {
    asm volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(to), "r"(stride), "i"(r) : "memory");
}

template <int r> inline void zero() { asm volatile("tilezero %%tmm%c0" ::"i"(r)); }

// multiply_bf16 adds products of numbers in bfloat16, two by two.
template <int sums, int a, int b> inline void multiply_bf16() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(sums), "i"(a), "i"(b));
}

// These add products of bytes, four by four: s is signed, u is not.
template <int sums, int a, int b> inline void multiply_ss() {
    asm volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(sums), "i"(a), "i"(b));
}
template <int sums, int a, int b> inline void multiply_su() {
    asm volatile("tdpbsud %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(sums), "i"(a), "i"(b));
}
template <int sums, int a, int b> inline void multiply_uu() {
    asm volatile("tdpbuud %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(sums), "i"(a), "i"(b));
}

// registers exist while this does: some of so many rows, the others of 16. 4 and 5
// may have fewer bytes in a row, and then 6 and 7 have as many rows as fit these.
class registers {
    struct alignas(64) layout {
        uint8_t palette, start, reserved[14];
        uint16_t bytes[16];
        uint8_t rows[16];
    };

  public:
    registers(int rows, int some, int bytes = 64) {
        layout l = {};
        l.palette = 1;
        for (int i = 0; i < 8; i++) {
            l.bytes[i] = static_cast<uint16_t>(i == 4 || i == 5 ? bytes : 64);
            l.rows[i] = static_cast<uint8_t>(i < some ? rows : i < 6 ? 16 : bytes / 4);
        }
        asm volatile("ldtilecfg %0" ::"m"(l));
    }
    registers(const registers &) = delete;
    registers & operator=(const registers &) = delete;
    ~registers() { asm volatile("tilerelease"); }
};

} // namespace matrix::amx_tile
