package inspection

import (
	"math"
	"strings"

	"github.com/diglot/diglot/engine/gguf"
)

// key is what llama.cpp wants of one of the metadata. The name is without the
// architecture where it begins with a dot.
type key struct {
	name string
	kind gguf.ValueType
	what string // for messages: "the number of layers"

	// What the value may be: of numbers from min to max, of strings one of.
	min, max float64
	oneOf    []string

	// An array is allowed, or wanted.
	array arrays
	zero  bool // 0 is allowed too, and means that there is none
	must  bool // it must be there, in a file of any architecture
}

type arrays int

const (
	noArray  arrays = iota
	perLayer        // one value for all layers, or one for each
	four            // one value four times, or four
	always          // an array of any length
)

// Bounds of numbers, above those of every model that there is, so that products
// of some of them fit into what llama.cpp computes with.
const (
	maxLayers  = 512 // llama.cpp has room for
	maxExperts = 512 // as well
	maxWidth   = 1 << 20
	maxHeads   = 1 << 14
	maxHead    = 1 << 14
	maxContext = math.MaxInt32
	large      = 1e6 // of factors
	small      = 1e-6
	tiny       = 1e-30 // above zero
)

// keys are those that llama.cpp reads of a model. Others it passes over.
//
// long: it is one table.
func keys() []key {
	u, f, b, s := gguf.Uint32, gguf.Float32, gguf.Bool, gguf.String
	return []key{
		{name: "general.architecture", kind: s, what: "the architecture", must: true},
		{name: "general.name", kind: s, what: "the name"},
		{name: "general.file_type", kind: u, what: "the type of the file", max: math.MaxUint32},
		{name: "split.no", kind: gguf.Uint16, what: "the number of the part", max: math.MaxUint16},
		{name: "split.count", kind: gguf.Uint16, what: "the number of parts", max: math.MaxUint16},
		{name: "split.tensors.count", kind: gguf.Int32, what: "the number of tensors in all parts", max: math.MaxInt32},

		{name: ".context_length", kind: u, what: "the length of texts that the model was trained with", min: 1, max: maxContext, must: true},
		{name: ".embedding_length", kind: u, what: "how many numbers stand for a token", min: 1, max: maxWidth, must: true},
		{name: ".block_count", kind: u, what: "the number of layers", min: 1, max: maxLayers, must: true},
		{name: ".vocab_size", kind: u, what: "the number of tokens", max: 1 << 24},
		{name: ".feed_forward_length", kind: u, what: "the width of the second half of a layer", max: maxWidth, array: perLayer},
		{name: ".attention.head_count", kind: u, what: "the number of heads", max: maxHeads, array: perLayer},
		{name: ".attention.head_count_kv", kind: u, what: "the number of heads that have keys", max: maxHeads, array: perLayer},
		{name: ".attention.key_length", kind: u, what: "the length of a head's key", min: 1, max: maxHead},
		{name: ".attention.value_length", kind: u, what: "the length of a head's value", min: 1, max: maxHead},
		{name: ".attention.key_length_mla", kind: u, what: "the length of a key", max: maxHead},
		{name: ".attention.value_length_mla", kind: u, what: "the length of a value", max: maxHead},
		{name: ".attention.q_lora_rank", kind: u, what: "a rank", min: 1, max: maxWidth},
		{name: ".attention.kv_lora_rank", kind: u, what: "a rank", min: 1, max: maxWidth},
		{name: ".attention.decay_lora_rank", kind: u, what: "a rank", min: 1, max: maxWidth},
		{name: ".attention.iclr_lora_rank", kind: u, what: "a rank", min: 1, max: maxWidth},
		{name: ".attention.value_residual_mix_lora_rank", kind: u, what: "a rank", min: 1, max: maxWidth},
		{name: ".attention.gate_lora_rank", kind: u, what: "a rank", min: 1, max: maxWidth},
		{name: ".attention.relative_buckets_count", kind: u, what: "the number of distances", min: 1, max: maxWidth},
		{name: ".attention.layer_norm_epsilon", kind: f, what: "what keeps a norm from dividing by zero", min: tiny, max: 1},
		{name: ".attention.layer_norm_rms_epsilon", kind: f, what: "what keeps a norm from dividing by zero", min: tiny, max: 1},
		{name: ".attention.group_norm_epsilon", kind: f, what: "what keeps a norm from dividing by zero", min: tiny, max: 1},
		{name: ".attention.group_norm_groups", kind: u, what: "the number of groups", min: 1, max: maxWidth},
		{name: ".attention.causal", kind: b, what: "whether a token sees those before it alone"},
		{name: ".attention.sliding_window", kind: u, what: "how far a token looks back", max: maxContext},
		{name: ".attention.max_alibi_bias", kind: f, what: "the weight of distance", max: large},
		{name: ".attention.clamp_kqv", kind: f, what: "a bound of keys", max: large},
		{name: ".attention.scale", kind: f, what: "a factor", min: -large, max: large},
		{name: ".attention.output_scale", kind: f, what: "a factor", min: -large, max: large},
		{name: ".attention.temperature_length", kind: u, what: "a length", max: maxContext},
		{name: ".attention.temperature_scale", kind: f, what: "a factor", min: -large, max: large},
		{name: ".attention.block_skip_connection.0", kind: u, what: "which layers skip", max: maxLayers, array: perLayer},
		{name: ".attention.block_skip_connection.1", kind: u, what: "which layers skip", max: maxLayers, array: perLayer},
		{name: ".attention.block_skip_connection.2", kind: u, what: "which layers skip", max: maxLayers, array: perLayer},
		{name: ".attention.block_skip_connection.3", kind: u, what: "which layers skip", max: maxLayers, array: perLayer},

		{name: ".leading_dense_block_count", kind: u, what: "the number of layers without experts", max: maxLayers},
		{name: ".expert_count", kind: u, what: "the number of experts", max: maxExperts},
		{name: ".expert_used_count", kind: u, what: "the number of experts that are asked", max: maxExperts},
		{name: ".expert_shared_count", kind: u, what: "the number of experts that are always asked", max: maxExperts},
		{name: ".expert_group_count", kind: u, what: "the number of groups of experts", max: maxExperts},
		{name: ".expert_group_used_count", kind: u, what: "the number of groups that are asked", max: maxExperts},
		{name: ".expert_feed_forward_length", kind: u, what: "the width of an expert", max: maxWidth},
		{name: ".expert_shared_feed_forward_length", kind: u, what: "the width of the shared expert", max: maxWidth},
		{name: ".expert_chunk_feed_forward_length", kind: u, what: "the width of an expert", max: maxWidth},
		{name: ".expert_weights_scale", kind: f, what: "a factor", min: -large, max: large},
		{name: ".expert_weights_norm", kind: b, what: "whether weights are normed"},
		{name: ".expert_gating_func", kind: u, what: "how experts are chosen", max: 3},
		{name: ".expert_group_scale", kind: f, what: "a factor", min: -large, max: large},
		{name: ".experts_per_group", kind: u, what: "the number of experts in a group", min: 1, max: maxExperts},
		{name: ".moe_every_n_layers", kind: u, what: "how often a layer has experts", max: maxLayers},
		{name: ".interleave_moe_layer_step", kind: u, what: "how often a layer has experts", max: maxLayers},
		{name: ".nextn_predict_layers", kind: u, what: "the number of layers that look ahead", max: maxLayers},
		{name: ".n_deepstack_layers", kind: u, what: "the number of layers that see a picture", max: 16},
		{name: ".pooling_type", kind: u, what: "how a vector is made of many", max: 4},
		{name: ".use_parallel_residual", kind: b, what: "whether the halves of a layer stand side by side"},
		{name: ".swin_norm", kind: b, what: "where norms stand"},
		{name: ".rescale_every_n_layers", kind: u, what: "how often numbers are halved", max: maxLayers},
		{name: ".token_shift_count", kind: u, what: "the number of shifts", min: 1, max: 2},
		{name: ".time_mix_extra_dim", kind: u, what: "a rank", min: 1, max: maxWidth},
		{name: ".time_decay_extra_dim", kind: u, what: "a rank", min: 1, max: maxWidth},
		{name: ".decoder_block_count", kind: u, what: "the number of layers", min: 1, max: maxLayers},
		{name: ".decoder_start_token_id", kind: u, what: "a token", max: 1 << 24},

		{name: ".logit_scale", kind: f, what: "a factor", min: -large, max: large},
		{name: ".residual_scale", kind: f, what: "a factor", min: -large, max: large},
		{name: ".embedding_scale", kind: f, what: "a factor", min: -large, max: large},
		{name: ".attn_logit_softcapping", kind: f, what: "a bound of logits", min: small, max: large},
		{name: ".router_logit_softcapping", kind: f, what: "a bound of logits", min: small, max: large},
		{name: ".final_logit_softcapping", kind: f, what: "a bound of logits", min: small, max: large, zero: true},

		{name: ".rope.dimension_count", kind: u, what: "the length of the part of a head that is rotated", max: maxHead},
		{name: ".rope.dimension_sections", kind: gguf.Int32, what: "the parts that are rotated", max: maxHead, array: four},
		{name: ".rope.freq_base", kind: f, what: "the base of rotations", min: small, max: 1e30},
		{name: ".rope.scale_linear", kind: f, what: "a factor", min: small, max: large, zero: true},
		{name: ".rope.scaling.type", kind: s, what: "how positions are scaled", oneOf: []string{"none", "linear", "yarn", "longrope"}},
		{name: ".rope.scaling.factor", kind: f, what: "a factor", min: small, max: large, zero: true},
		{name: ".rope.scaling.attn_factor", kind: f, what: "a factor", min: -large, max: large},
		{name: ".rope.scaling.original_context_length", kind: u, what: "a length", min: 1, max: maxContext},
		{name: ".rope.scaling.finetuned", kind: b, what: "whether positions were scaled in training"},
		{name: ".rope.scaling.yarn_log_multiplier", kind: f, what: "a factor", min: -large, max: large},
		{name: ".rope.scaling.yarn_ext_factor", kind: f, what: "a factor", min: -1, max: large},
		{name: ".rope.scaling.yarn_attn_factor", kind: f, what: "a factor", min: -large, max: large},
		{name: ".rope.scaling.yarn_beta_fast", kind: f, what: "a factor", min: -large, max: large},
		{name: ".rope.scaling.yarn_beta_slow", kind: f, what: "a factor", min: -large, max: large},

		{name: ".ssm.conv_kernel", kind: u, what: "the length of a convolution", min: 1, max: 1 << 10},
		{name: ".ssm.inner_size", kind: u, what: "the width of a state", min: 1, max: maxWidth},
		{name: ".ssm.state_size", kind: u, what: "the size of a state", min: 1, max: maxHead},
		{name: ".ssm.time_step_rank", kind: u, what: "the number of heads of a state", min: 1, max: maxWidth},
		{name: ".ssm.group_count", kind: u, what: "the number of groups of a state", max: maxHeads},
		{name: ".ssm.dt_b_c_rms", kind: b, what: "whether states are normed"},
		{name: ".wkv.head_size", kind: u, what: "the size of a state", min: 1, max: maxHead},
		{name: ".shortconv.l_cache", kind: u, what: "the length of a convolution", min: 1, max: 1 << 10},
		{name: ".classifier.output_labels", kind: s, what: "the names of classes", array: always},
		{name: ".dense_2_feat_in", kind: u, what: "a width", max: maxWidth},
		{name: ".dense_2_feat_out", kind: u, what: "a width", max: maxWidth},
		{name: ".dense_3_feat_in", kind: u, what: "a width", max: maxWidth},
		{name: ".dense_3_feat_out", kind: u, what: "a width", max: maxWidth},
		{name: "xielu.alpha_n", kind: f, what: "a factor", min: -large, max: large, array: perLayer},
		{name: "xielu.alpha_p", kind: f, what: "a factor", min: -large, max: large, array: perLayer},
		{name: "xielu.beta", kind: f, what: "a factor", min: -large, max: large, array: perLayer},
		{name: "xielu.eps", kind: f, what: "a factor", min: -large, max: large, array: perLayer},
	}
}

// in is the whole name of the key, in a file of an architecture.
func (k key) in(architecture string) string {
	if strings.HasPrefix(k.name, ".") {
		return architecture + k.name
	}
	return k.name
}

// variables are the numbers that expressions of architectures.txt name, with
// the keys that they are the values of. Those without a key are made of others
// (see numbersOf).
func variables() map[string]string {
	return map[string]string{
		"embd": ".embedding_length", "ctx": ".context_length", "layers": ".block_count", "ff": ".feed_forward_length",
		"heads": ".attention.head_count", "kv": ".attention.head_count_kv", "key": ".attention.key_length", "val": ".attention.value_length",
		"rot": ".rope.dimension_count", "experts": ".expert_count", "used": ".expert_used_count", "shared": ".expert_shared_count",
		"ffx": ".expert_feed_forward_length", "ffs": ".expert_shared_feed_forward_length", "gating": ".expert_gating_func",
		"dense": ".leading_dense_block_count", "step": ".interleave_moe_layer_step", "every": ".moe_every_n_layers", "nextn": ".nextn_predict_layers",
		"qrank": ".attention.q_lora_rank", "kvrank": ".attention.kv_lora_rank", "keymla": ".attention.key_length_mla", "valmla": ".attention.value_length_mla",
		"conv": ".ssm.conv_kernel", "inner": ".ssm.inner_size", "state": ".ssm.state_size", "dt": ".ssm.time_step_rank", "groups": ".ssm.group_count",
		"lcache": ".shortconv.l_cache", "wkv": ".wkv.head_size", "shift": ".token_shift_count", "mixdim": ".time_mix_extra_dim", "decaydim": ".time_decay_extra_dim",
		"decay": ".attention.decay_lora_rank", "iclr": ".attention.iclr_lora_rank", "vres": ".attention.value_residual_mix_lora_rank", "gate": ".attention.gate_lora_rank",
		"ffc": ".expert_chunk_feed_forward_length", "pergroup": ".experts_per_group", "window": ".attention.sliding_window", "in2": ".dense_2_feat_in", "out2": ".dense_2_feat_out", "in3": ".dense_3_feat_in", "out3": ".dense_3_feat_out",
		"types": "tokenizer.ggml.token_type_count", "vocab": "tokenizer.ggml.tokens", "labels": ".classifier.output_labels",
		"q": "", "k": "", "v": "", "layer": "", "unwindowed": "",
	}
}
