package inspection

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"strconv"
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

// Bounds that Go code needs too.
const (
	large = 1e6   // of factors
	tiny  = 1e-30 // above zero
)

//go:embed keys.txt
var keysText string

// keysOf reads the keys of one section of keys.txt.
func keysOf(section string) ([]key, error) {
	var all []key
	current := ""
	for line := range strings.Lines(keysText) {
		line = strings.TrimSpace(line)
		switch name, heading := strings.CutPrefix(line, "@"); {
		case heading:
			current = name
		case line == "" || line[0] == '#' || current != section:
		default:
			k, err := parseKey(line)
			if err != nil {
				return nil, fmt.Errorf("keys.txt: %q: %w", line, err)
			}
			all = append(all, k)
		}
	}
	return all, nil
}

func parseKey(line string) (key, error) {
	left, what, _ := strings.Cut(line, ": ")
	words := strings.Fields(left)
	if what == "" || len(words) < 2 {
		return key{}, errors.New("not NAME TYPE ...: WHAT")
	}
	k := key{name: words[0], what: what}
	for k.kind.String() != words[1] {
		if k.kind++; k.kind > gguf.Float64 {
			return key{}, fmt.Errorf("no type %q", words[1])
		}
	}
	for _, word := range words[2:] {
		if err := k.add(word); err != nil {
			return key{}, err
		}
	}
	return k, nil
}

// add obeys one word between the type and the description.
func (k *key) add(word string) error {
	lists := map[string]arrays{"per-layer": perLayer, "four": four, "list": always}
	low, high, isRange := strings.Cut(word, "..")
	var err error
	switch {
	case word == "must":
		k.must = true
	case word == "or-zero":
		k.zero = true
	case lists[word] != noArray:
		k.array = lists[word]
	case isRange:
		var errHigh error
		k.min, err = strconv.ParseFloat(low, 64)
		k.max, errHigh = strconv.ParseFloat(high, 64)
		err = cmp.Or(err, errHigh)
	case strings.Contains(word, "|"):
		k.oneOf = strings.Split(word, "|")
	default:
		err = fmt.Errorf("unknown word %q", word)
	}
	return err
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
