#pragma once

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// shim_huge_pages makes llama.cpp allocate its CPU buffers in huge pages from now
// on, where the operator grants them. A second call does nothing.
void shim_huge_pages(bool granted);

// shim_join_pages puts KV caches into huge pages, which are small until then. It is called
// before a prompt, whose computation is faster with them.
void shim_join_pages(void);

#ifdef __cplusplus
}
#endif
