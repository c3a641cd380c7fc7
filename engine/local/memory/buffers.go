package memory

import "github.com/diglot/diglot/engine/gguf"

// Sizes of what is computed together, in tokens.
const (
	// Piece is what is read of prompts at once.
	Piece = 128

	// Whole is the most of a picture whose tokens see each other, and of inputs
	// that are made into vectors together.
	Whole = 512
)

const (
	tile   = 64 // of which are looked at together, and cells
	scored = 64 // of which the whole vocabulary is wanted: those of a prompt that is scored
)

// What a process takes before it computes, measured: see the package comment.
const (
	processBytes = 40 << 20 // the program, Go and llama.cpp, and what its buffers take for being made of huge pages
	tokenBytes   = 290      // an entry of the vocabulary, in Go, in its tokenizer and in llama.cpp
	mergeBytes   = 210      // a rule that joins two of them, in the tokenizer and in llama.cpp
	bookBytes    = 160      // what is written down of a token in the cache, in Go and in llama.cpp
)

// addBuffers counts what computing one batch takes. llama.cpp reserves more:
// room for the logits of all tokens of a batch. That they are never written
// costs nothing, since the system gives memory when it is written to.
func (m *model) addBuffers(a attention, threads int) {
	rows := int64(m.rows)
	vocabulary := m.vocabulary()
	// Numbers for each token, in one half of a layer after the other.
	layer := min(max(a.heads*(a.key+a.value)+2*a.width, feedForward(m.file, a)), 1<<32)
	computed := (layer + 3*a.width) * float32Bytes
	multiplied := max(layer/2, a.width) * float16Bytes // what is multiplied is copied, in the type of the matrix
	m.row = computed + multiplied
	logits := scored * vocabulary * float32Bytes // once where they are computed, once where they are read
	if m.embeds {
		logits = rows * a.width * float32Bytes
	}
	attending := int64(threads) * 2 * tile * (a.key + a.value + tile) * float32Bytes
	m.buffers = processBytes + rows*m.row + 2*logits + attending +
		vocabulary*tokenBytes + int64(m.file.Len("tokenizer.ggml.merges"))*mergeBytes

	// Which tokens see which: a number of 32 bits, and one of 16 bits.
	m.mask = float32Bytes + float16Bytes
	if a.windows {
		m.mask *= 2
	}
	if m.file.Architecture() == "grok" { // its attention is computed in full
		m.mask += a.heads * float32Bytes
	}
	if m.cell > 0 || !m.file.Causal() {
		m.cellBuffers = rows*m.mask + bookBytes
	}
}

// vocabulary is the number of tokens.
func (m *model) vocabulary() int64 {
	if n := m.file.Len("tokenizer.ggml.tokens"); n > 0 {
		return min(int64(n), 1<<24)
	}
	return number(m.file, "vocab_size", 32000)
}

// feedForward is how many numbers the second half of a layer has for a token.
// Of a mixture of experts, a token is given to some.
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
