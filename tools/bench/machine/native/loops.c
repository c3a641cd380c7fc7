// Measures what this machine can do: how fast it reads memory, and how many
// multiplications per second its vector registers do. Nothing is loaded or stored in the
// loops of multiplications, so that no program can be faster by the same instructions.
//
//   loops THREADS BYTES...
//
// prints one line per figure: NAME VALUE INSTRUCTIONS, in bytes or multiplications per
// second, of all threads together, the best of several passes.

#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/mman.h>
#include <sys/syscall.h>
#endif
#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

// The bytes of a register.
#if defined(__AVX512F__)
#define WIDTH 64
#define FLOATS "AVX-512"
#elif defined(__AVX__)
#define WIDTH 32
#define FLOATS "AVX2"
#elif defined(__aarch64__)
#define WIDTH 16
#define FLOATS "NEON"
#else
#define WIDTH 16
#define FLOATS "plain"
#endif

typedef float floats __attribute__((vector_size(WIDTH)));
typedef int64_t words __attribute__((vector_size(WIDTH)));

// KEEP tells the compiler that a register may be anything from here on: no two products
// are the same to it.
#if defined(__x86_64__)
#define KEEP(x) __asm__ volatile("" : "+v"(x))
#elif defined(__aarch64__)
#define KEEP(x) __asm__ volatile("" : "+w"(x))
#else
#define KEEP(x) __asm__ volatile("" : "+m"(x))
#endif

// ACCUMULATORS hide the latency of an instruction. They are variables, since compilers keep
// an array in memory, whose stores take longer than the products.
enum { ACCUMULATORS = 12 };
#define EACH(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11)

static int64_t sink;

static double read_bytes(const char *data, size_t bytes) {
    const words *at = (const words *)data;
    size_t n = bytes / WIDTH / 8 * 8;
    words sum[8];
    memset(sum, 0, sizeof sum);
    for (size_t i = 0; i < n; i += 8) {
        for (int k = 0; k < 8; k++) {
            sum[k] += at[i + k];
        }
    }
    for (int k = 0; k < 8; k++) {
        __atomic_fetch_add(&sink, sum[k][0], __ATOMIC_RELAXED);
    }
    return (double)n * WIDTH;
}

enum { STEPS = 4000000 };

static double multiply_floats(void) {
    floats a = {0}, b = {0};
    KEEP(b);
#define DECLARE(k) floats acc##k = {0};
    EACH(DECLARE)
#undef DECLARE
    for (int step = 0; step < STEPS; step++) {
#define MULTIPLY(k) KEEP(a); acc##k += a * b;
        EACH(MULTIPLY)
#undef MULTIPLY
    }
#define USE(k) KEEP(acc##k);
    EACH(USE)
    return (double)STEPS * ACCUMULATORS * WIDTH / 4;
}

// What int8 products of this machine are made of: INT8_STEP adds the products of a
// register of bytes to an accumulator of int32.
#if defined(__AVX512VNNI__)
#define INT8 "AVX-512 VNNI"
typedef __m512i bytes_t;
#define INT8_STEP(acc, a, b) acc = _mm512_dpbusd_epi32(acc, a, b)
#elif defined(__AVXVNNI__)
#define INT8 "AVX-VNNI"
typedef __m256i bytes_t;
#define INT8_STEP(acc, a, b) acc = _mm256_dpbusd_avx_epi32(acc, a, b)
#elif defined(__AVX2__)
#define INT8 "AVX2"
typedef __m256i bytes_t;
#define INT8_STEP(acc, a, b) \
    acc = _mm256_add_epi32(acc, _mm256_madd_epi16(_mm256_maddubs_epi16(a, b), ones))
#elif defined(__ARM_FEATURE_MATMUL_INT8)
#define INT8 "NEON i8mm"
#define INT8_PRODUCTS 32
typedef int32x4_t bytes_t;
#define INT8_STEP(acc, a, b) acc = vmmlaq_s32(acc, vreinterpretq_s8_s32(a), vreinterpretq_s8_s32(b))
#elif defined(__ARM_FEATURE_DOTPROD)
#define INT8 "NEON dotprod"
typedef int32x4_t bytes_t;
#define INT8_STEP(acc, a, b) acc = vdotq_s32(acc, vreinterpretq_s8_s32(a), vreinterpretq_s8_s32(b))
#endif

#if defined(INT8)
#if !defined(INT8_PRODUCTS)
#define INT8_PRODUCTS sizeof(bytes_t)
#endif

static double multiply_bytes(void) {
    bytes_t a, b;
    memset(&a, 0, sizeof a);
    b = a;
    KEEP(b);
#if defined(__AVX2__) && !defined(__AVX512VNNI__) && !defined(__AVXVNNI__)
    const __m256i ones = _mm256_set1_epi16(1);
#endif
#define DECLARE(k) bytes_t acc##k = a;
    EACH(DECLARE)
#undef DECLARE
    for (int step = 0; step < STEPS; step++) {
#define MULTIPLY(k) KEEP(a); INT8_STEP(acc##k, a, b);
        EACH(MULTIPLY)
#undef MULTIPLY
    }
    EACH(USE)
    return (double)STEPS * ACCUMULATORS * INT8_PRODUCTS;
}
#endif

#if defined(__AMX_INT8__) && defined(__linux__)
static int tiles_allowed(void) { return syscall(SYS_arch_prctl, 0x1023, 18) == 0; }

// Tiles of 16 rows of 64 bytes: 16 times 16 sums of 64 products each.
static double multiply_tiles(void) {
    struct __attribute__((packed)) {
        uint8_t palette, start, reserved[14];
        uint16_t row_bytes[16];
        uint8_t rows[16];
    } shape;
    memset(&shape, 0, sizeof shape);
    shape.palette = 1;
    for (int i = 0; i < 8; i++) {
        shape.row_bytes[i] = 64;
        shape.rows[i] = 16;
    }
    // GCC 12 takes only the first eight bytes for read.
    __asm__ volatile("" : : "r"(&shape) : "memory");
    _tile_loadconfig(&shape);
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    _tile_zero(4);
    _tile_zero(5);
    for (int step = 0; step < STEPS / 10; step++) {
        _tile_dpbssd(0, 4, 5);
        _tile_dpbssd(1, 4, 5);
        _tile_dpbssd(2, 4, 5);
        _tile_dpbssd(3, 4, 5);
    }
    _tile_release();
    return (double)STEPS / 10 * 4 * 16 * 16 * 64;
}
#endif

// team is one figure: what each thread does in a pass, and how fast it was.
struct team {
    int threads;
    double (*multiply)(void); // or:
    char *data;
    size_t bytes;
    atomic_int ready;
    double rate[256];
};

struct member {
    struct team *team;
    int number;
};

static void *work(void *arg) {
    struct member *m = arg;
    struct team *t = m->team;
    size_t part = t->bytes / t->threads / 4096 * 4096;
    atomic_fetch_add(&t->ready, 1);
    while (atomic_load(&t->ready) < t->threads) {
    }
    double start = now(), done = 0;
    do {
        done += t->multiply ? t->multiply() : read_bytes(t->data + part * m->number, part);
    } while (now() - start < 0.15);
    t->rate[m->number] = done / (now() - start);
    return NULL;
}

// best is the highest rate of some passes, of all threads together.
static double best(struct team *t) {
    double highest = 0;
    for (int pass = 0; pass < 5; pass++) {
        pthread_t threads[256];
        struct member members[256];
        atomic_store(&t->ready, 0);
        for (int i = 0; i < t->threads; i++) {
            members[i] = (struct member){t, i};
            if (pthread_create(&threads[i], NULL, work, &members[i]) != 0) {
                exit(1);
            }
        }
        double total = 0;
        for (int i = 0; i < t->threads; i++) {
            pthread_join(threads[i], NULL);
            total += t->rate[i];
        }
        if (total > highest) {
            highest = total;
        }
    }
    return highest;
}

static char *allocate(size_t bytes) {
    char *data = NULL;
    if (posix_memalign((void **)&data, 2 << 20, bytes) != 0) {
        exit(1);
    }
#if defined(__linux__)
    madvise(data, bytes, MADV_HUGEPAGE);
#endif
    memset(data, 1, bytes);
    return data;
}

int main(int argc, char **argv) {
    struct team t = {.threads = argc > 1 ? atoi(argv[1]) : 0};
    if (t.threads < 1 || t.threads > 256) {
        fprintf(stderr, "usage: loops THREADS BYTES...\n");
        return 2;
    }
    t.multiply = multiply_floats;
    printf("float %.6g %s\n", best(&t), FLOATS);
#if defined(INT8)
    t.multiply = multiply_bytes;
    printf("int8 %.6g %s\n", best(&t), INT8);
#endif
#if defined(__AMX_INT8__) && defined(__linux__)
    if (tiles_allowed()) {
        t.multiply = multiply_tiles;
        printf("tiles %.6g AMX\n", best(&t));
    }
#endif
    t.multiply = NULL;
    for (int i = 2; i < argc; i++) {
        t.bytes = strtoull(argv[i], NULL, 10);
        t.data = allocate(t.bytes);
        printf("read:%zu %.6g %s\n", t.bytes, best(&t), FLOATS);
        free(t.data);
    }
    return 0;
}
