//go:build llamacpp && linux && release

// Releases have GCC's C++ library inside, which calls this function of glibc 2.36. With
// one of our own they also run where glibc is older.
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((visibility("hidden"))) uint32_t arc4random(void) {
    uint32_t x;
    if (getentropy(&x, sizeof x) != 0) {
        abort(); // as glibc does
    }
    return x;
}
