#pragma once

#include "shim.h"

#include <exception>

void log_threw(const char * what);

// guarded calls f; if it throws, it logs the exception and returns fallback.
template <typename F, typename R>
static R guarded(F f, R fallback) {
    try {
        return f();
    } catch (const std::exception & e) {
        log_threw(e.what());
    } catch (...) {
        log_threw("unknown exception");
    }
    return fallback;
}

bool raised(void * flag);
