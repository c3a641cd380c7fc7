package memory

import (
	"slices"

	"github.com/diglot/diglot/engine/gguf"
)

const (
	float16Bytes = 2 // in the KV cache
	float32Bytes = 4 // activations
)

// attention is the shape of the attention layers.
type attention struct {
	heads         int64
	kvHeads       []int64 // by layer; 0: the layer has no KV cells
	key           int64   // length of a head's key
	value         int64   // length of a head's value
	width         int64   // embedding length
	slidingWindow bool    // in some layers
}

// attentionOf reads the metadata. Multi-head latent attention needs no special
// case: it has one KV head with a long key.
func attentionOf(file *gguf.File) attention {
	a := attention{
		heads:         number(file, "attention.head_count", 0),
		width:         number(file, "embedding_length", 4096),
		slidingWindow: number(file, "attention.sliding_window", 0) > 0,
	}
	for _, n := range file.Ints(file.Key("attention.head_count")) {
		a.heads = max(a.heads, min(n, maxNumber))
	}
	head := int64(128)
	if a.heads > 0 {
		head = a.width / a.heads
	}
	a.key = number(file, "attention.key_length", head)
	a.value = number(file, "attention.value_length", head)
	a.kvHeads = kvHeads(file, a.heads)
	return a
}

// kvHeads returns the number of KV heads by layer.
func kvHeads(file *gguf.File, heads int64) []int64 {
	layers := min(number(file, "block_count", 32), 1<<12)
	each := make([]int64, layers)
	given := file.Ints(file.Key("attention.head_count_kv"))
	for i := range each {
		each[i] = number(file, "attention.head_count_kv", heads)
		if given != nil {
			each[i] = 0
			if i < len(given) {
				each[i] = min(max(given[i], 0), maxNumber)
			}
		}
		if !hasKV(file, int64(i), layers) {
			each[i] = 0
		}
	}
	return each
}

// hasKV reports whether a layer has KV cells, for architectures whose head counts
// do not tell. The rules are llama.cpp's.
func hasKV(file *gguf.File, layer, layers int64) bool {
	switch architecture := file.Architecture(); {
	case slices.Contains(recurrent, architecture):
		return false
	case architecture == "qwen3next":
		return (layer+1)%4 == 0
	case architecture == "gemma3n":
		return layer < 20 // the others reuse their KV
	}
	return layer < layers-number(file, "nextn_predict_layers", 0)
}

// recurrent are the architectures without attention.
var recurrent = []string{"mamba", "mamba2", "rwkv6", "rwkv6qwen2", "rwkv7", "arwkv7"}

// cell is the size of a KV cell, in fp16. Layers with a sliding window keep all
// tokens too (swa_full), so that any prefix can be shared.
func (a attention) cell() int64 {
	sum := int64(0)
	for _, n := range a.kvHeads {
		sum = add(sum, n*(a.key+a.value)*float16Bytes)
	}
	return sum
}

// stateOf is the size of the recurrent state of one sequence.
func stateOf(file *gguf.File, a attention) int64 {
	conv, inner := number(file, "ssm.conv_kernel", 0), number(file, "ssm.inner_size", 0)
	size, groups := number(file, "ssm.state_size", 0), number(file, "ssm.group_count", 0)
	numbers := max(conv-1, 0)*(inner+2*groups*size) + size*inner
	if head := number(file, "wkv.head_size", 0); head > 0 {
		numbers = a.width * (head + number(file, "token_shift_count", 2))
	}
	if short := number(file, "shortconv.l_cache", 0); short > 0 {
		numbers = a.width * (short - 1)
	}
	layers := int64(0)
	for _, n := range a.kvHeads {
		if n == 0 || file.Architecture() == "falcon-h1" {
			layers++
		}
	}
	return min(numbers, 1<<40) * layers * float32Bytes
}
