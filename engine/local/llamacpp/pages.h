// Memory of the processor that llama.cpp computes with, in huge pages.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// shim_huge_pages asks the system for huge pages for all buffers of llama.cpp
// that are made from now on. A second call does nothing.
void shim_huge_pages(void);

#ifdef __cplusplus
}
#endif
