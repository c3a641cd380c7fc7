// Attention in tiles, in place of llama.cpp's. Its kernel takes one token and one
// head at a time, and so reads every key and value once for each of them. What
// is computed is the same, but for rounding.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// shim_attention makes tiles possible. It must come before the first context of
// the process; a second call does nothing.
void shim_attention(void);

#ifdef __cplusplus
}

#include <mutex>

// As long as one of these is there, the processor computes flash attention in
// tiles, where there are enough rows for it. There is one at a time in a process.
// That nothing else is computed beside it is for the callers to see to.
class tiled_attention {
  public:
    tiled_attention();
    ~tiled_attention();

  private:
    std::lock_guard<std::mutex> lock;
};
#endif
