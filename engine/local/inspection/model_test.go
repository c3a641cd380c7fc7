package inspection_test

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine/gguf"
	"github.com/diglot/diglot/engine/local/inspection"
	"github.com/diglot/diglot/engine/local/inspection/inspectiontest"
)

// inspect writes a file and looks at it.
func inspect(t *testing.T, parts *gguf.Draft) error {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.gguf")
	if err := parts.Write(path); err != nil {
		t.Fatal(err)
	}
	file, err := gguf.Open(path)
	if err != nil {
		return err
	}
	return inspection.Model(path, file)
}

// change is what is wrong with a model.
type change func(*gguf.Draft)

func set(name string, value any) change {
	return func(p *gguf.Draft) {
		p.Keys = slices.DeleteFunc(p.Keys, func(k gguf.Key) bool { return k.Name == name })
		if value != nil {
			p.Keys = append(p.Keys, gguf.KeyOf(name, value))
		}
	}
}

func both(changes ...change) change {
	return func(p *gguf.Draft) {
		for _, c := range changes {
			c(p)
		}
	}
}

// token gives one token another text.
func token(i int, text string) change {
	return func(p *gguf.Draft) {
		for n, k := range p.Keys {
			if k.Name == "tokenizer.ggml.tokens" {
				p.Keys[n].Array.Texts = slices.Clone(k.Array.Texts)
				p.Keys[n].Array.Texts[i] = text
			}
		}
	}
}

func tensor(name string, change func(*gguf.Weight)) change {
	return func(p *gguf.Draft) {
		i := slices.IndexFunc(p.Tensors, func(t gguf.Weight) bool { return t.Name == name })
		change(&p.Tensors[i])
	}
}

func dims(dims ...uint64) func(*gguf.Weight) {
	return func(t *gguf.Weight) { t.Dims = dims }
}

func stored(kind gguf.Type) func(*gguf.Weight) {
	return func(t *gguf.Weight) { t.Type = kind }
}

func named(name string) func(*gguf.Weight) {
	return func(t *gguf.Weight) { t.Name = name }
}

func TestModelRefuses(t *testing.T) {
	const eps = "llama.attention.layer_norm_rms_epsilon"
	for _, tt := range []struct {
		name   string
		change change
		want   string
	}{
		{"no layers", set("llama.block_count", uint32(0)), "llama.block_count is 0; the number of layers must be from 1 to 512"},
		{"more layers than there is room for", set("llama.block_count", uint32(513)), "llama.block_count is 513"},
		{"no layers named", set("llama.block_count", nil), "llama.block_count is missing: it is the number of layers"},
		{"no numbers for a token", set("llama.embedding_length", uint32(0)), "llama.embedding_length is 0"},
		{"no heads", set("llama.attention.head_count", uint32(0)), "llama.attention.head_count and llama.attention.head_count_kv are 0 and 2 in layer 0"},
		{"heads that do not divide", set("llama.attention.head_count_kv", uint32(3)), "llama.attention.head_count_kv is 3 in layer 0; it must divide llama.attention.head_count, which is 4"},
		{"heads that differ", set("llama.attention.head_count_kv", []uint32{2, 4}), "is the same in all layers"},
		{"heads for another number of layers", set("llama.attention.head_count_kv", []uint32{2, 2, 2}), "llama.attention.head_count_kv has 3 values"},
		{"heads that are text", set("llama.attention.head_count_kv", []string{"2", "2"}), "llama.attention.head_count_kv is stored as array of string"},
		{"layers as a signed number", set("llama.block_count", int32(2)), "llama.block_count is stored as int32; the number of layers must be a uint32"},
		{"an epsilon that is no number", set(eps, float32(math.NaN())), eps + " is NaN; what keeps a norm from dividing by zero must be above 0, and at most 1"},
		{"an epsilon below zero", set(eps, float32(-1e-5)), eps + " is -1e-05"},
		{"an epsilon of zero", set(eps, float32(0)), eps + " is 0"},
		{"no epsilon", set(eps, nil), eps + " is missing; models of the architecture llama have it"},
		{"rotations of another length", set("llama.rope.dimension_count", uint32(8)), "llama.rope.dimension_count is 8; in models of the architecture llama it is the length of a key, which is 16"},
		{"rotations of an odd length", set("llama.rope.dimension_count", uint32(15)), "it must be even"},
		{"an unknown scaling", set("llama.rope.scaling.type", "more"), `llama.rope.scaling.type is "more"; how positions are scaled must be one of none, linear, yarn, longrope`},
		{"rotations without a base", set("llama.rope.freq_base", float32(math.Inf(1))), "llama.rope.freq_base is +Inf"},
		{"experts without use", both(set("llama.expert_count", uint32(4))), "llama.expert_used_count is 0; it must be from 1 to llama.expert_count, which is 4"},
		{"use without experts", set("llama.expert_used_count", uint32(2)), "without llama.expert_count they must be 0"},
		{"an architecture that is not known", set("general.architecture", "llama9"), `general.architecture is "llama9", which the llama.cpp of this program does not know`},
		{"one that cannot be run", set("general.architecture", "t5"), "models of the architecture t5 cannot be run here: it reads and writes in two parts"},
		{"none", set("general.architecture", nil), "general.architecture is missing"},
		{"an unknown tokenizer", set("tokenizer.ggml.model", "wordy"), `tokenizer.ggml.model is "wordy"; it must be one of bert, gpt2, llama, plamo2, rwkv, t5`},
		{"no tokenizer", set("tokenizer.ggml.model", nil), "tokenizer.ggml.model is missing"},
		{"an unknown way to cut texts", set("tokenizer.ggml.pre", "wordy"), `tokenizer.ggml.pre is "wordy", which the llama.cpp of this program does not know`},
		{"no tokens", set("tokenizer.ggml.tokens", nil), "tokenizer.ggml.tokens is missing"},
		{"a token twice", token(20, "the"), `tokenizer.ggml.tokens has "the" twice, as token 20 and as 260`},
		{"a token twice up to a NUL", token(20, "the\x00"), `has "the" twice`},
		{"a token with the name of an empty one", both(token(20, ""), token(21, "[EMPTY_20]")), `has "[EMPTY_20]" twice`},
		{"an endless token", token(20, strings.Repeat("x", 1<<13)), "has a token of 8192 bytes, number 20; one may have 4096"},
		{"tokens that nobody can spell", func(p *gguf.Draft) {
			for i := range 200 {
				token(20+i, string(rune('A'+i%26))+string(rune('a'+i/26))+strings.Repeat("漢", 1300))(p)
			}
		}, "has tokens with so many letters that a tokenizer gpt2 cannot spell"},
		{"a special token that there is not", set("tokenizer.ggml.eos_token_id", uint32(9999)), "tokenizer.ggml.eos_token_id is 9999; it must be one of the 264 tokens"},
		{"a special token as another number", set("tokenizer.ggml.eos_token_id", int32(1)), "tokenizer.ggml.eos_token_id is stored as int32"},
		{"too few scores", set("tokenizer.ggml.scores", []float32{1}), "tokenizer.ggml.scores has 1 values; there must be as many as tokens, which are 264"},
		{"scores of another type", set("tokenizer.ggml.scores", []int32{1}), "tokenizer.ggml.scores is stored as array of int32; it must be an array of float32"},
		{"too few types", set("tokenizer.ggml.token_type", []int32{1, 1}), "tokenizer.ggml.token_type has 2 values"},
		{"no merges", set("tokenizer.ggml.merges", nil), "tokenizer.ggml.merges is missing; a tokenizer gpt2 has it"},
		{"a merge of one part", set("tokenizer.ggml.merges", []string{"th"}), `tokenizer.ggml.merges has "th", number 0; each must be two parts of tokens with a blank between`},
		{"a missing tensor", tensor("blk.1.ffn_up.weight", named("blk.1.ffn_upper.weight")), "the tensor blk.1.ffn_up.weight is missing; models of the architecture llama have it"},
		{"a tensor more", func(p *gguf.Draft) {
			p.Tensors = append(p.Tensors, gguf.Weight{Name: "blk.2.more", Dims: []uint64{4}})
		}, "the tensor blk.2.more does not belong to models of the architecture llama with 2 layers"},
		{"a tensor of another shape", tensor("blk.0.attn_k.weight", dims(64, 48)), "the tensor blk.0.attn_k.weight has the dimensions [64 48]; by the numbers of the file it must have [64 32]"},
		{"a vocabulary of another size", tensor("token_embd.weight", dims(64, 100)), "the tensor token_embd.weight has the dimensions [64 100]; by the numbers of the file it must have [64 264]"},
		{"a norm that is not exact", tensor("output_norm.weight", stored(gguf.F16)), "the tensor output_norm.weight is stored as F16; it must be F32"},
		{"whole numbers as weights", tensor("blk.0.attn_k.weight", stored(26)), "the tensor blk.0.attn_k.weight is stored as I32; weights may have F32, F16"},
	} {
		parts, err := inspectiontest.Model(inspectiontest.Recipe{Architecture: "llama"}, 1)
		if err != nil {
			t.Fatal(err)
		}
		tt.change(parts)
		if err := inspect(t, parts); err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want one with %q", tt.name, err, tt.want)
		}
	}
}

// TestModelRefusesByArchitecture has what is wrong in models of others.
func TestModelRefusesByArchitecture(t *testing.T) {
	recipes := map[string]inspectiontest.Recipe{}
	all, err := inspectiontest.Recipes(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		recipes[r.Name] = r
	}
	for _, tt := range []struct {
		recipe string
		change change
		want   string
	}{
		{"gemma3 windows with none", set("gemma3.block_count", uint32(5)), "window==0|layers>5 must hold, and window is 64 (attention.sliding_window), layers is 5 (block_count)"},
		{"mamba2 with none", set("mamba2.ssm.time_step_rank", uint32(7)), "inner%dt==0 must hold"},
		{"mamba with none", set("mamba.attention.head_count", uint32(4)), "models of the architecture mamba have no heads"},
		{"jamba with none", set("jamba.attention.head_count_kv", uint32(4)), "kv==0 must hold in one of the 4 layers"},
		{"deci with none", set("deci.feed_forward_length", []uint32{96, 64, 96, 0}), "ff>0|layer<layers-1 must hold"},
		{"baichuan with none", set("baichuan.block_count", uint32(12)), "layers==32|(layers==40) must hold"},
		{"qwen2vl with none", set("qwen2vl.rope.dimension_sections", []int32{0, 0, 0, 8}), "qwen2vl.rope.dimension_sections is [0 0 0 8]"},
		{"qwen3moe groups with none", set("qwen3moe.expert_group_count", uint32(3)), "qwen3moe.expert_group_count is 3; it must divide"},
		{"bert with none", set("bert.attention.causal", true), "bert.attention.causal is true"},
		{"bert with none", set("bert.pooling_type", uint32(0)), "bert.pooling_type is 0; to make vectors it must be 1 (the mean)"},
		{"bert with none", set("bert.context_length", uint32(300)), "position_embd.weight has the dimensions [64 256]; by the numbers of the file it must have [64 300]"},
		{"grok with all", tensor("blk.0.ffn_down.weight", named("blk.0.ffn_downer.weight")), "the tensor blk.0.ffn_down.weight is missing; models with blk.0.ffn_"},
		{"llama4 with none", set("llama4.attention.sliding_window", nil), "unwindowed|layers>=4 must hold"},
		{"solar skips with none", set("solar.attention.block_skip_connection.0", []uint32{0, 0, 1}), "marks layer 1, and"},
		{"gemma with none", token(10, "<0x-1>"), `tokenizer.ggml.tokens has "<0x-1>" as token 10, of the type of bytes`},
		{"nomic-bert with none", func(p *gguf.Draft) {
			for _, k := range p.Keys {
				if k.Name == "tokenizer.ggml.token_type" {
					k.Array.Bits[59] = 6
				}
			}
		}, "tokenizer.ggml.token_type says that token 59"},
		{"rwkv7 with none", token(66, "zz"), "tokenizer.ggml.tokens has no token for the byte 0x41"},
		{"jina-bert-v3 with none", set("tokenizer.ggml.precompiled_charsmap", []byte{1, 2, 3}), "tokenizer.ggml.precompiled_charsmap has 3 bytes"},
		{"jina-bert-v3 with none", set("tokenizer.ggml.precompiled_charsmap", []byte{4, 0, 0, 0, 1, 2, 3, 4, 'x'}), "and the last must be 0"},
		{"jina-bert-v3 with none", set("tokenizer.ggml.add_bos_token", true), ""},
		{"phi3 with none", set("general.name", "Phi-3 small"), "models that are called by the name of Phi-3 have it"},
		{"bailingmoe2 with none", set("bailingmoe2.expert_gating_func", uint32(0)), "gating>0|dense>=layers must hold"},
		{"rwkv7 with none", set("rwkv7.wkv.head_size", uint32(32)), "wkv%64==0 must hold"},
		{"qwen2 with none", set("tokenizer.ggml.eos_token_id", uint32(math.MaxUint32)), ""},
		{"qwen2 with none", set("tokenizer.ggml.padding_token_id", uint32(5000)), ""},
	} {
		r, ok := recipes[tt.recipe]
		if !ok {
			t.Errorf("there is no recipe %s", tt.recipe)
			continue
		}
		parts, err := inspectiontest.Model(r, 1)
		if err != nil {
			t.Fatal(err)
		}
		tt.change(parts)
		err = inspect(t, parts)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: error %v, want one with %q", tt.recipe, err, tt.want)
		}
	}
}
