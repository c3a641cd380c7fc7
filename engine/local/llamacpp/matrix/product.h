// The operations of ggml that have kernels here.
#pragma once

#include "layout.h"

#include <string_view>

struct ggml_backend_buffer_type;
struct ggml_compute_params;

namespace matrix {

// best returns the kernels of this processor's best instruction set, or nullptr.
const kernels * best();

// use makes best return the kernels of that name, and reports whether they run
// here.
bool use(std::string_view name);

// layout_of is the layout of weights that have one, for these kernels.
const layout & layout_of(const ggml_tensor * weights);

// allow_integers lets weights in fp16 be multiplied by integers, where there are kernels
// for that: faster for many tokens, slower for one.
void allow_integers(ggml_tensor * weights);

ggml_backend_buffer_type * buffer_type();

// norm_of_ours reports whether an operation is the RMS norm of a product of ours, perhaps
// of its sum with something.
bool norm_of_ours(const ggml_tensor * op);

namespace product {

// Each thread prepares so few tokens by itself: waiting for each other takes
// longer.
constexpr int64_t few_tokens = 2;

// has reports whether there is a kernel for the shapes and types of an operation.
bool has(const ggml_tensor * op);

size_t work_size(const ggml_tensor * op, int threads);
void compute(ggml_compute_params * params, ggml_tensor * op);

} // namespace product

} // namespace matrix
