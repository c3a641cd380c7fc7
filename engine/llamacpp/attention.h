// Attention for prompts, in place of llama.cpp's.
#pragma once

#include <mutex>

// As long as one of these is there, the processor computes flash attention in
// tiles, wherever many tokens are read at once. llama.cpp's own kernel takes one
// token and one head at a time, and so reads every key and value once for each
// of them. What is computed is the same, but for rounding.
//
// There is one at a time in a process, and no other computing beside it.
class tiled_attention {
  public:
    tiled_attention();
    ~tiled_attention();

  private:
    std::lock_guard<std::mutex> lock;
};
