#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// shim_huge_pages makes llama.cpp allocate its CPU buffers in huge pages from now
// on. A second call does nothing.
void shim_huge_pages(void);

#ifdef __cplusplus
}
#endif
