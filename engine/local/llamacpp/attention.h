// Tiled flash attention in place of llama.cpp's, whose kernel takes one token and
// one head at a time, reads all keys and values for each, and adds in 16 bits.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// shim_attention registers the kernel with ggml. It must be called before the
// first context is created; a second call does nothing.
void shim_attention(void);

#ifdef __cplusplus
}

#include <mutex>

// attention_kernels are those that compute attention, all with the same result: only
// that of rows; that of tiles too, if there are enough rows, in vectors or by the best
// instructions of the processor.
enum class attention_kernels { rows, vectors, best };

// While one of these exists, the CPU backend may compute attention. One exists at a
// time.
class attention_turn {
  public:
    explicit attention_turn(attention_kernels kernels);
    ~attention_turn();

    // left_to_ggml reports whether a product or attention was left to ggml, whose result
    // for a token may depend on the tokens beside it.
    bool left_to_ggml() const;

  private:
    std::lock_guard<std::mutex> lock;
};
#endif
