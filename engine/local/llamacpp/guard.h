// What the shims share: exceptions become results, and flags are read.
#pragma once

#include "shim.h"

#include <exception>

void log_threw(const char * what);

// guarded calls f and turns an exception into otherwise.
template <typename F, typename R>
static R guarded(F f, R otherwise) {
    try {
        return f();
    } catch (const std::exception & e) {
        log_threw(e.what());
    } catch (...) {
        log_threw("unknown exception");
    }
    return otherwise;
}

// raised says whether the flag is.
bool raised(void * flag);
