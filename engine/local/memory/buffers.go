package memory

import "github.com/diglot/diglot/engine/gguf"

// Batch sizes, in tokens.
const (
	// PrefillChunk is how many prompt tokens are decoded in one batch.
	PrefillChunk = 128

	// BatchRows is the largest batch: an image chunk with non-causal attention, or
	// inputs to embed.
	BatchRows = 512
)

const (
	leastTile = 16      // rows of it in a long context
	tile      = 64      // rows and KV cells in a tile of attention
	scored    = 64      // rows with logits, when a prompt is scored
	scores    = 4 << 20 // bytes of attention scores
	kept      = 4 << 20 // bytes of values that are kept for the next tiles
)

// Measured: see the package comment.
const (
	processBytes = 40 << 20 // Go, llama.cpp and the rounding to huge pages
	tokenBytes   = 290      // per token of the vocabulary, in decode, tokenizer and llama.cpp
	mergeBytes   = 210      // per BPE merge, in tokenizer and llama.cpp
	cellBytes    = 160      // per KV cell, in decode and llama.cpp
)

// addBuffers adds the memory for computing one batch. llama.cpp also reserves
// logits for all rows, which cost nothing until they are written.
func (m *model) addBuffers(a attention, threads int) {
	rows := int64(m.rows)
	vocabulary := m.vocabulary()
	// Activations per row: attention and feed-forward layers reuse one buffer.
	layer := min(max(a.heads*(a.key+a.value)+2*a.width, feedForward(m.file, a)), 1<<32)
	computed := (layer + 3*a.width) * float32Bytes
	multiplied := max(layer/2, a.width) * float32Bytes // products convert their input, at most to as many bytes
	m.row = computed + multiplied
	logits := scored * vocabulary * float32Bytes // counted twice: in the graph and in the output buffer
	if m.embedsOnly {
		logits = rows * a.width * float32Bytes
	}
	attending := int64(threads) * (tile*(2*a.key+4*a.value+8*tile)*float32Bytes + scores + kept)
	m.buffers = processBytes + rows*m.row + 2*logits + attending +
		vocabulary*tokenBytes + int64(m.file.Len("tokenizer.ggml.merges"))*mergeBytes

	// The attention mask, in fp32 and fp16.
	m.mask = float32Bytes + float16Bytes
	if a.slidingWindow {
		m.mask *= 2
	}
	if m.file.Architecture() == "grok" { // no flash attention
		m.mask += a.heads * float32Bytes
	}
	if m.cell > 0 || !m.file.Causal() {
		m.cellBuffers = rows*m.mask + cellBytes + int64(threads)*leastTile*float32Bytes
	}
}

// vocabulary is the number of tokens in the vocabulary.
func (m *model) vocabulary() int64 {
	if n := m.file.Len("tokenizer.ggml.tokens"); n > 0 {
		return min(int64(n), 1<<24)
	}
	return number(m.file, "vocab_size", 32000)
}

// feedForward is the length of a row's activations in the feed-forward layer, or
// in the experts that are used for a token.
func feedForward(file *gguf.File, a attention) int64 {
	inner := number(file, "feed_forward_length", 4*a.width)
	for _, n := range file.Ints(file.Key("feed_forward_length")) {
		inner = max(inner, min(n, maxNumber))
	}
	used := min(number(file, "expert_used_count", 0), 1<<10)
	if used == 0 {
		return 2 * inner
	}
	expert := number(file, "expert_feed_forward_length", inner)
	shared := number(file, "expert_shared_feed_forward_length", 0)
	return max(2*inner, used*(2*expert+a.width)+2*shared)
}
