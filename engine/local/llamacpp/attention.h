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

// While one of these exists, the CPU backend may compute attention: in tiles if
// there are enough rows, or always in rows. One exists at a time.
class attention_turn {
  public:
    explicit attention_turn(bool tiles);
    ~attention_turn();

  private:
    std::lock_guard<std::mutex> lock;
};
#endif
