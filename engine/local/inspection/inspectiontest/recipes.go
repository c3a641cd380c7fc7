package inspectiontest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/diglot/diglot/engine/local/inspection"
)

// Recipes are models of all architectures: each without the tensors that need
// not be there, with all, and with some, as the seed chooses; and some of the
// forms that an architecture has beside.
func Recipes(seed uint64) ([]Recipe, error) {
	architectures, err := inspection.Architectures()
	if err != nil {
		return nil, err
	}
	var all []Recipe
	for _, name := range architectures {
		for form, meta := range forms(name) {
			all = append(all, recipes(name, form, meta, seed)...)
		}
	}
	slices.SortFunc(all, func(a, b Recipe) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

func recipes(name, form string, meta map[string]any, seed uint64) []Recipe {
	whole := special()[name]
	keyed := map[string]any{}
	for _, part := range []map[string]any{whole, meta} {
		for key, value := range part {
			if !strings.HasPrefix(key, "xielu.") && !strings.HasPrefix(key, "tokenizer.") {
				key = name + "." + key
			}
			keyed[key] = value
		}
	}
	r := Recipe{Name: strings.TrimSpace(name + " " + form), Architecture: name, Meta: keyed, Tokenizer: tokenizers()[name]}
	every, some := r, r
	every.Name += " with all"
	every.Optional = optional(name, func(string) bool { return true })
	some.Name += " with some"
	some.Optional = optional(name, chosen(seed))
	r.Name += " with none"
	r.Optional = optional(name, func(string) bool { return false })
	return []Recipe{r, every, some}
}

// optional keeps tensors together that belong together, and apart that exclude
// each other.
func optional(architecture string, choose func(string) bool) func(string) bool {
	return func(tensor string) bool {
		base := tensor
		for _, set := range sets {
			if set.architecture == "" || set.architecture == architecture {
				base = strings.Replace(base, set.member, set.as, 1)
			}
		}
		if strings.HasPrefix(base, "rope_factors") {
			return false // beside rope_freqs they need another kind of scaling
		}
		return choose(base)
	}
}

var sets = []struct{ member, as, architecture string }{
	{"dense_3", "dense_2", ""}, {"attn_norm_2.bias", "attn_norm_2.weight", ""}, {"cls.bias", "cls.weight", ""}, {"cls.output.bias", "cls.output.weight", ""},
	{"attn_q_norm.bias", "attn_q_norm.weight", ""}, {"attn_k_norm.bias", "attn_k_norm.weight", ""},
	{"ffn_gate.weight", "ffn_up.weight", "grok"}, {"ffn_down.weight", "ffn_up.weight", "grok"},
	{"time_mix_g2", "time_mix_g1", ""}, {"time_mix_ln.bias", "time_mix_ln.weight", ""}, {"attn_qkv.bias", "attn_qkv.weight", "phi2"}, {"ffn_norm.bias", "ffn_norm.weight", "stablelm"},
}

// tokenizers are the kinds of vocabularies of some architectures; gpt2 else.
func tokenizers() map[string]string {
	kinds := map[string]string{"plamo2": "plamo2", "rwkv6": "rwkv", "rwkv7": "rwkv", "jina-bert-v3": "t5", "nomic-bert-moe": "t5"}
	for _, name := range []string{"llama", "gemma", "gemma2", "gemma3", "gemma3n", "gemma-embedding", "phi3", "internlm2", "baichuan", "jamba"} {
		kinds[name] = "llama"
	}
	for _, name := range []string{"bert", "nomic-bert", "jina-bert-v2", "neo-bert"} {
		kinds[name] = "bert"
	}
	return kinds
}

func experts(more map[string]any) map[string]any {
	meta := map[string]any{
		"expert_count": uint32(4), "expert_used_count": uint32(2), "expert_feed_forward_length": uint32(32), "expert_shared_feed_forward_length": uint32(48),
		"expert_shared_count": uint32(1), "expert_weights_scale": float32(1), "expert_gating_func": uint32(1), "leading_dense_block_count": uint32(1),
		"interleave_moe_layer_step": uint32(1),
	}
	maps.Copy(meta, more)
	return meta
}

func states(more map[string]any) map[string]any {
	meta := map[string]any{
		"ssm.conv_kernel": uint32(4), "ssm.inner_size": uint32(128), "ssm.state_size": uint32(16), "ssm.time_step_rank": uint32(8), "ssm.group_count": uint32(2),
	}
	maps.Copy(meta, more)
	return meta
}

// special are keys that an architecture has in all of its forms.
func special() map[string]map[string]any {
	vectors := map[string]any{"attention.causal": false, "pooling_type": uint32(1), "attention.head_count_kv": uint32(4)}
	equal := map[string]any{"attention.head_count_kv": uint32(4)}
	withoutHeads := func(meta map[string]any) map[string]any {
		meta["attention.head_count"], meta["attention.head_count_kv"] = nil, nil
		return meta
	}
	mixed := []uint32{0, 2, 0, 2}
	table := map[string]map[string]any{
		"bert": vectors, "nomic-bert": vectors, "neo-bert": vectors, "jina-bert-v2": vectors,
		"jina-bert-v3":    {"attention.causal": false, "pooling_type": uint32(1), "attention.head_count_kv": uint32(4), "tokenizer.ggml.token_type_count": uint32(2)},
		"nomic-bert-moe":  experts(map[string]any{"tokenizer.ggml.token_type_count": uint32(1), "moe_every_n_layers": uint32(2), "attention.causal": false, "pooling_type": uint32(2), "attention.head_count_kv": uint32(4)}),
		"gemma-embedding": {"attention.causal": false, "pooling_type": uint32(1), "block_count": uint32(6), "attention.sliding_window": uint32(64), "dense_2_feat_in": uint32(64), "dense_2_feat_out": uint32(128), "dense_3_feat_in": uint32(128), "dense_3_feat_out": uint32(64)},
		"gemma3n":         {"attention.sliding_window": uint32(64), "block_count": uint32(22)},
		"mpt":             {"attention.max_alibi_bias": float32(8), "attention.head_count_kv": uint32(4)},
		"jais":            {"attention.max_alibi_bias": float32(8)},
		"dbrx":            experts(map[string]any{"attention.clamp_kqv": float32(8)}),
		"qwen":            equal, "olmoe": experts(equal), "dots1": experts(equal),
		"minicpm3":    {"attention.q_lora_rank": uint32(24), "attention.kv_lora_rank": uint32(16), "attention.head_count_kv": uint32(4), "rope.dimension_count": uint32(8)},
		"qwen2vl":     {"rope.dimension_sections": []int32{4, 2, 2, 0}},
		"qwen3vl":     {"rope.dimension_sections": []int32{4, 2, 2, 0}},
		"qwen3vlmoe":  experts(map[string]any{"rope.dimension_sections": []int32{4, 2, 2, 0}}),
		"command-r":   {"logit_scale": float32(0.5)},
		"cohere2":     {"block_count": uint32(4), "logit_scale": float32(0.5), "attention.sliding_window": uint32(64)},
		"gptneox":     {"use_parallel_residual": true},
		"granite":     {"logit_scale": float32(2), "residual_scale": float32(1), "embedding_scale": float32(1), "attention.scale": float32(0.2)},
		"granitemoe":  experts(map[string]any{"logit_scale": float32(2), "residual_scale": float32(1), "embedding_scale": float32(1), "attention.scale": float32(0.2)}),
		"apertus":     {"xielu.alpha_n": float32(0.8), "xielu.alpha_p": float32(0.8), "xielu.beta": float32(0.5), "xielu.eps": float32(-1e-6)},
		"gpt-oss":     experts(map[string]any{"attention.sliding_window": uint32(64)}),
		"mamba":       withoutHeads(states(map[string]any{"ssm.group_count": nil})),
		"mamba2":      withoutHeads(states(nil)),
		"jamba":       experts(states(map[string]any{"ssm.group_count": nil, "block_count": uint32(4), "attention.head_count_kv": mixed})),
		"plamo2":      states(map[string]any{"ssm.group_count": uint32(0), "block_count": uint32(4), "attention.head_count_kv": mixed}),
		"falcon-h1":   states(nil),
		"baichuan":    {"block_count": uint32(32)},
		"lfm2moe":     experts(map[string]any{"shortconv.l_cache": uint32(3), "block_count": uint32(4), "attention.head_count_kv": mixed}),
		"qwen3next":   experts(states(map[string]any{"block_count": uint32(4)})),
		"rwkv6":       withoutHeads(map[string]any{"wkv.head_size": uint32(16), "time_mix_extra_dim": uint32(8), "time_decay_extra_dim": uint32(8)}),
		"rwkv7":       withoutHeads(map[string]any{"wkv.head_size": uint32(64), "attention.decay_lora_rank": uint32(8), "attention.iclr_lora_rank": uint32(8), "attention.value_residual_mix_lora_rank": uint32(8), "attention.gate_lora_rank": uint32(8)}),
		"rwkv6qwen2":  {"wkv.head_size": uint32(16), "time_mix_extra_dim": uint32(8), "time_decay_extra_dim": uint32(8), "token_shift_count": uint32(1)},
		"arwkv7":      {"wkv.head_size": uint32(64), "attention.decay_lora_rank": uint32(8), "attention.iclr_lora_rank": uint32(8), "attention.value_residual_mix_lora_rank": uint32(8), "attention.gate_lora_rank": uint32(8), "token_shift_count": uint32(1)},
		"grovemoe":    experts(map[string]any{"expert_chunk_feed_forward_length": uint32(24), "expert_group_scale": float32(0.05), "experts_per_group": uint32(2)}),
		"cogvlm":      equal,
		"hunyuan-moe": experts(nil), "ernie4_5-moe": experts(nil), "minimax-m2": experts(nil), "smallthinker": experts(nil),
		"afmoe":      experts(map[string]any{"attention.sliding_window": uint32(64), "block_count": uint32(4)}),
		"bailingmoe": experts(nil), "bailingmoe2": experts(nil), "glm4moe": experts(nil), "deepseek": experts(nil), "arctic": experts(nil), "phimoe": experts(nil),
		"qwen2moe": experts(nil), "qwen3moe": experts(nil), "grok": experts(nil), "llama4": experts(map[string]any{"attention.sliding_window": uint32(0)}),
		"deepseek2":      experts(map[string]any{"attention.q_lora_rank": uint32(24), "attention.kv_lora_rank": uint32(16), "attention.head_count_kv": uint32(4), "rope.dimension_count": uint32(8)}),
		"granitehybrid":  states(map[string]any{"block_count": uint32(4), "attention.head_count_kv": mixed}),
		"nemotron_h":     states(map[string]any{"expert_feed_forward_length": uint32(96), "block_count": uint32(4), "attention.head_count_kv": []uint32{0, 2, 0, 0}, "feed_forward_length": []uint32{0, 0, 96, 0}}),
		"nemotron_h_moe": experts(states(map[string]any{"block_count": uint32(4), "attention.head_count_kv": []uint32{0, 2, 0, 0}, "feed_forward_length": []uint32{0, 0, 96, 0}})),
		"deci":           {"block_count": uint32(4), "attention.head_count": []uint32{4, 4, 0, 4}, "attention.head_count_kv": []uint32{2, 0, 0, 1}, "feed_forward_length": []uint32{96, 64, 0, 96}},
		"openelm":        {"attention.head_count": []uint32{4, 8}, "attention.head_count_kv": []uint32{1, 2}, "feed_forward_length": []uint32{96, 64}},
	}
	return table
}

// forms are the shapes that models of an architecture come in, by name.
func forms(architecture string) map[string]map[string]any {
	all := map[string]map[string]any{"": {}}
	switch architecture {
	case "llama":
		all["experts"] = experts(nil)
		all["wide heads"] = map[string]any{"attention.key_length": uint32(32), "attention.value_length": uint32(32), "rope.dimension_count": uint32(32)}
		all["one layer"] = map[string]any{"block_count": uint32(1)}
		all["yarn"] = map[string]any{"rope.scaling.type": "yarn", "rope.scaling.factor": float32(4), "rope.scaling.original_context_length": uint32(64)}
	case "gemma3":
		all["windows"] = map[string]any{"block_count": uint32(6), "attention.sliding_window": uint32(64), "attention.key_length": uint32(32), "attention.value_length": uint32(32)}
	case "deepseek2":
		all["latent"] = map[string]any{
			"attention.key_length_mla": uint32(16), "attention.value_length_mla": uint32(16), "attention.head_count_kv": uint32(1),
			"attention.key_length": uint32(24), "attention.value_length": uint32(16),
		}
	case "glm4moe", "bailingmoe2":
		all["looking ahead"] = map[string]any{"block_count": uint32(3), "nextn_predict_layers": uint32(1)}
	case "solar":
		all["skips"] = map[string]any{
			"block_count": uint32(3), "attention.block_skip_connection.0": []uint32{1, 0, 0}, "attention.block_skip_connection.1": []uint32{0, 1, 0},
			"attention.block_skip_connection.2": []uint32{0, 1, 0}, "attention.block_skip_connection.3": []uint32{0, 0, 1},
		}
	case "granitehybrid":
		all["experts"] = experts(nil)
	case "smallthinker", "olmo2", "llama4", "phi3", "exaone4":
		all["windows"] = map[string]any{"attention.sliding_window": uint32(64), "block_count": uint32(4)}
	case "qwen3moe":
		all["groups"] = map[string]any{"expert_count": uint32(8), "expert_group_count": uint32(4), "expert_group_used_count": uint32(2)}
	case "qwen2", "qwen3":
		all["vectors"] = map[string]any{"pooling_type": uint32(3)}
	case "bert":
		for p := range uint32(2) {
			all[fmt.Sprintf("pooled by %d", p+2)] = map[string]any{"pooling_type": p + 2}
		}
	}
	return all
}
