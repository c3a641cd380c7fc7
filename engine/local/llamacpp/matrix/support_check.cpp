//go:build llamacpp

#include "buffer.h"
#include "check.h"
#include "product.h"

#include "ggml-backend.h"
#include "ggml-cpu.h"
#include "ggml.h"

#include <cstring>

// type_of returns the type of a name, or GGML_TYPE_COUNT.
static ggml_type type_of(const char * name) {
    for (int i = 0; i < GGML_TYPE_COUNT; i++) {
        const ggml_type type = static_cast<ggml_type>(i);
        const char * known = ggml_type_name(type);
        if (known != nullptr && std::strcmp(known, name) == 0) {
            return type;
        }
    }
    return GGML_TYPE_COUNT;
}

// operation is one on weights of the given shape.
static ggml_tensor * operation(ggml_context * ctx, const struct matrix_case & c, ggml_tensor * w, bool lookup) {
    if (lookup) {
        return ggml_get_rows(ctx, w, ggml_new_tensor_1d(ctx, GGML_TYPE_I32, c.tokens));
    }
    if (c.experts > 0) {
        ggml_tensor * x = ggml_new_tensor_3d(ctx, GGML_TYPE_F32, c.width, 1, c.tokens);
        return ggml_mul_mat_id(ctx, w, x, ggml_new_tensor_2d(ctx, GGML_TYPE_I32, c.used, c.tokens));
    }
    return ggml_mul_mat(ctx, w, ggml_new_tensor_2d(ctx, GGML_TYPE_F32, c.width, c.tokens));
}

// As llama.cpp asks: the weights have a buffer of no bytes, and no data.
bool matrix_supported(struct matrix_case c, const char * name, bool lookup) {
    ggml_context * ctx = ggml_init({16 * ggml_tensor_overhead(), nullptr, true});
    ggml_tensor * w = c.experts > 0 ? ggml_new_tensor_3d(ctx, type_of(c.type), c.width, c.rows, c.experts) : ggml_new_tensor_2d(ctx, type_of(c.type), c.width, c.rows);
    ggml_set_name(w, name);
    const ggml_tensor * op = operation(ctx, c, w, lookup);
    w->buffer = ggml_backend_buft_alloc_buffer(matrix::buffer_type(), 0);
    const bool supported = ggml_backend_dev_supports_op(ggml_backend_buft_get_device(matrix::buffer_type()), op);
    ggml_backend_buffer_free(w->buffer);
    ggml_free(ctx);
    return supported;
}
