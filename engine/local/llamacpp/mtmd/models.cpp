//go:build llamacpp

// One file for each family of projectors.
#include <../tools/mtmd/models/cogvlm.cpp>
#include <../tools/mtmd/models/glm4v.cpp>
#include <../tools/mtmd/models/internvl.cpp>
#include <../tools/mtmd/models/kimivl.cpp>
#include <../tools/mtmd/models/llama4.cpp>
#include <../tools/mtmd/models/llava.cpp>
#include <../tools/mtmd/models/minicpmv.cpp>
// This one clears numbers by a product with 0, after which what is in memory by
// chance may be no number still.
#define ggml_scale ggml_fill
#include <../tools/mtmd/models/pixtral.cpp>
#undef ggml_scale
#include <../tools/mtmd/models/qwen2vl.cpp>
#include <../tools/mtmd/models/qwen3vl.cpp>
#include <../tools/mtmd/models/siglip.cpp>
#include <../tools/mtmd/models/whisper-enc.cpp>
