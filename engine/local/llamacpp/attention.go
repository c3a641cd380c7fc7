//go:build llamacpp && cgo

package llamacpp

// #include "attention_check.h"
import "C"

// attentionCase is a shape of attention, for a test.
type attentionCase struct {
	heads, kvHeads int
	key, value     int // length of a head's key and value
	tokens, cells  int
	sinks          bool // attention sinks
	extreme        bool // values are zero, the least and the largest of fp16
	threads        int
}

// attentionError runs attention over random numbers with ggml and with a naive
// implementation. It returns the largest difference, or a negative number if
// ggml fails.
func attentionError(c attentionCase) float64 { return float64(C.shim_attention_error(c.c())) }

// attentionDifferent runs attention over random numbers in tiles and in rows,
// with cells in several orders. It returns how many results have other bits
// than the first, or a negative number if ggml fails.
func attentionDifferent(c attentionCase) int { return int(C.shim_attention_different(c.c())) }

func (c attentionCase) c() C.struct_shim_attention_case {
	given := C.struct_shim_attention_case{
		heads: C.int32_t(c.heads), kv_heads: C.int32_t(c.kvHeads),
		key: C.int32_t(c.key), value: C.int32_t(c.value),
		tokens: C.int32_t(c.tokens), cells: C.int32_t(c.cells),
		threads: C.int32_t(c.threads),
	}
	if c.extreme {
		given.extreme = 1
	}
	if c.sinks {
		given.sinks = 1
	}
	return given
}

// attentionAlone runs attention for tokens together, and for each alone. It returns how
// many results have other bits alone, negative if ggml fails.
func attentionAlone(c attentionCase) int { return int(C.shim_attention_alone(c.c())) }
