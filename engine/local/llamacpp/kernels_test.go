package llamacpp

import (
	"testing"

	"github.com/diglot/diglot/engine/gguf"
)

func TestDescribeKernels(t *testing.T) {
	const f32, f16, q3K, q4K, q6K gguf.Type = 0, 1, 11, 12, 14
	matrixOf := func(name string, format gguf.Type, dims ...int64) gguf.Tensor {
		return gguf.Tensor{Name: name, Type: format, Dims: dims}
	}
	q4, q6, q3 := matrixOf("blk.0.attn_q.weight", q4K, 512, 64), matrixOf("blk.0.ffn_down.weight", q6K, 512, 64), matrixOf("blk.0.ffn_up.weight", q3K, 512, 64)
	half, narrow := matrixOf("output.weight", f16, 512, 64), matrixOf("blk.0.ffn_gate.weight", f16, 500, 64)
	norm, router := matrixOf("blk.0.attn_norm.weight", f32, 512), matrixOf("blk.0.ffn_gate_inp.weight", f32, 512, 8)
	experts, other := matrixOf("blk.0.ffn_up_exps.weight", q4K, 512, 64, 8), matrixOf("v.patch.weight", q4K, 512, 64, 8)
	embeddings, positions := matrixOf("token_embd.weight", q6K, 512, 100), matrixOf("position_embd.weight", f16, 512, 100)
	amx := map[string]string{"Q4_K": "AMX and AVX-512 VNNI", "Q6_K": "AVX-512 VNNI", "F16": "AMX", "F32": "AVX-512 VNNI"}
	avx2 := map[string]string{"Q4_K": "AVX2", "Q6_K": "AVX2", "F16": "AVX2", "F32": "AVX2"}
	for _, tt := range []struct {
		name    string
		kernels map[string]string
		tensors []gguf.Tensor
		tied    bool
		want    string
	}{
		{"one set for all", avx2, []gguf.Tensor{q6, q4, q4, norm, router}, false, "AVX2 for F32, Q4_K, Q6_K"},
		{"one for each type", amx, []gguf.Tensor{q4, q6, half}, false, "AMX for F16; AMX and AVX-512 VNNI for Q4_K; AVX-512 VNNI for Q6_K"},
		{"a type without", avx2, []gguf.Tensor{q3, q4}, false, "AVX2 for Q4_K; ggml for Q3_K"},
		{"none has", avx2, []gguf.Tensor{q3}, false, "ggml for Q3_K"},
		{"a width without", avx2, []gguf.Tensor{half, narrow}, false, "AVX2 for F16; ggml for F16"},
		{"a processor without", nil, []gguf.Tensor{q6, q4}, false, "ggml for Q4_K, Q6_K"},
		{"experts", avx2, []gguf.Tensor{experts}, false, "AVX2 for Q4_K"},
		{"three dimensions", avx2, []gguf.Tensor{other}, false, "ggml for Q4_K"},
		{"embeddings that are the output layer", amx, []gguf.Tensor{embeddings, q4}, true, "AMX and AVX-512 VNNI for Q4_K; AVX-512 VNNI for Q6_K"},
		{"embeddings that are looked up", amx, []gguf.Tensor{embeddings, positions, q4}, false, "AMX and AVX-512 VNNI for Q4_K"},
		{"no matrices", avx2, []gguf.Tensor{norm}, false, ""},
	} {
		instructions := func(format string, width int64) string {
			if width%32 != 0 {
				return ""
			}
			return tt.kernels[format]
		}
		if got := describeKernels(tt.tensors, tt.tied, instructions); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
