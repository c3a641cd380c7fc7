// Flash attention of single tokens whose result does not depend on where in the
// KV cache a sequence's cells lie.
#pragma once

#include "traits.h"

// row_attention returns the kernel of an operation, or null if it has none.
ggml::cpu::tensor_traits * row_attention(const ggml_tensor * op);
