//go:build llamacpp

#include "adapter.h"
#include "guard.h"

#include "gguf.h"

#include <stdexcept>

namespace {

bool has_type(const gguf_context * file, const char * key, gguf_type type, bool optional) {
    const int64_t id = gguf_find_key(file, key);
    return id < 0 ? optional : gguf_get_kv_type(file, id) == type;
}

bool is_typed(const char * path) {
    gguf_context * file = gguf_init_from_file(path, { /*.no_alloc =*/ true, /*.ctx =*/ nullptr });
    if (!file) {
        return false;
    }
    const bool ok = has_type(file, "general.type", GGUF_TYPE_STRING, false) &&
                    has_type(file, "general.architecture", GGUF_TYPE_STRING, false) &&
                    has_type(file, "adapter.type", GGUF_TYPE_STRING, false) &&
                    has_type(file, "adapter.lora.alpha", GGUF_TYPE_FLOAT32, true);
    gguf_free(file);
    return ok;
}

} // namespace

struct llama_adapter_lora * shim_adapter(struct llama_model * model, const char * path) {
    return guarded([&] {
        if (!is_typed(path)) {
            throw std::runtime_error("a metadata value of the adapter has the wrong type");
        }
        return llama_adapter_lora_init(model, path);
    }, static_cast<llama_adapter_lora *>(nullptr));
}
