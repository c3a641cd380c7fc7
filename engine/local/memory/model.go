package memory

import (
	"slices"

	"github.com/diglot/diglot/engine/gguf"
)

// model has the sizes of a model, in bytes unless stated otherwise.
type model struct {
	file *gguf.File

	trained          int  // training context
	learnedPositions bool // position embeddings, which end at trained
	embedsOnly       bool // an embedding model
	wholeInput       bool // an input must fit one batch
	rows             int  // of a batch

	weights     int64
	cell        int64 // of a KV cell
	state       int64 // recurrent states
	buffers     int64
	row         int64 // part of buffers per batch row
	mask        int64 // attention mask, per batch row and KV cell
	cellBuffers int64 // per KV cell, in addition to buffers
}

// maxNumber bounds metadata values: above every real model, and small enough that
// their products do not overflow.
const maxNumber = 1 << 20

// number reads a key of the architecture. It returns absent if the key is missing
// or out of range.
func number(file *gguf.File, key string, absent int64) int64 {
	n, ok := file.Int(file.Key(key))
	if !ok || n < 0 || n > maxNumber {
		return absent
	}
	return n
}

// newModel reads the sizes of a model.
func newModel(file *gguf.File, options Options) *model {
	m := &model{
		file:    file,
		trained: min(file.Context(), 1<<24),
		weights: weightsOf(file, options.LaidOut),
	}
	if m.trained == 0 {
		m.trained = defaultCells
	}
	m.learnedPositions = slices.ContainsFunc(file.Tensors, func(t gguf.Tensor) bool { return t.Name == "position_embd.weight" })
	m.embedsOnly, m.wholeInput = file.Embeds()
	a := attentionOf(file)
	if m.embedsOnly && !file.Causal() {
		a.kvHeads = nil // an encoder has no KV cache
	}
	m.cell = a.cell()
	m.state = times(stateOf(file, a), options.parallel())
	m.rows = PrefillChunk + options.parallel()
	switch {
	case m.embedsOnly && m.wholeInput:
		m.rows = max(m.contextFor(options), BatchRows)
	case m.embedsOnly:
		m.rows = BatchRows
	}
	m.addBuffers(a, max(options.Threads, 1))
	return m
}

// weightsOf is the size of the tensors, which count once even when repacked (see
// the package comment). A token embedding that is tied to the output counts twice
// when repacked, as lookups need the original, unless both use one layout.
func weightsOf(file *gguf.File, laidOut []string) int64 {
	sum := bytesOf(file)
	tied := !slices.ContainsFunc(file.Tensors, func(t gguf.Tensor) bool { return t.Name == "output.weight" })
	for _, t := range file.Tensors {
		format := t.Type.String()
		if slices.Contains(laidOut, format) {
			sum = add(sum, padding(t))
		}
		if tied && t.Name == "token_embd.weight" && slices.Contains(repacked, format) && !slices.Contains(laidOut, format) {
			sum = add(sum, t.Bytes)
		}
	}
	return sum
}

// padding is what a matrix takes more where its rows are laid out by panelRows.
func padding(t gguf.Tensor) int64 {
	if len(t.Dims) < 2 || t.Dims[1] <= 0 {
		return 0
	}
	missing := (panelRows - t.Dims[1]%panelRows) % panelRows
	return min(t.Bytes, maxBytes/panelRows) / t.Dims[1] * missing
}

// panelRows is how many rows of a matrix lie together, see package matrix.
const panelRows = 32

// repacked are the types that llama.cpp repacks on some CPUs.
var repacked = []string{"Q4_0", "Q4_K", "Q2_K", "IQ4_NL"}

func bytesOf(file *gguf.File) int64 {
	sum := int64(0)
	for _, t := range file.Tensors {
		sum = add(sum, t.Bytes)
	}
	return sum
}

// maxBytes is where sums and products saturate, since a file may claim any size.
// Three of them can be added.
const maxBytes = 1 << 60

func add(a, b int64) int64 { return min(a+b, maxBytes) }

func times(a int64, n int) int64 {
	if a > 0 && int64(n) > maxBytes/a {
		return maxBytes
	}
	return a * int64(n)
}

// addProjector adds the projector's weights and the activations of one picture.
func (m *model) addProjector(file *gguf.File) {
	m.weights = add(m.weights, bytesOf(file))
	// An image chunk with non-causal attention must fit one batch.
	m.buffers += (BatchRows - PrefillChunk) * m.row
	m.cellBuffers += (BatchRows - PrefillChunk) * m.mask
	side := number(file, "vision.image_size", 448) / max(number(file, "vision.patch_size", 14), 1)
	width := number(file, "vision.embedding_length", 1024)
	inner := number(file, "vision.feed_forward_length", 4*width)
	m.buffers = add(m.buffers, min(side*side, maxPatches)*(6*width+2*inner)*float32Bytes)
}

// addDraft adds a model in the same process that has as many KV cells.
func (m *model) addDraft(draft *model) {
	m.weights = add(m.weights, draft.weights)
	m.cell = add(m.cell, draft.cell)
	m.buffers = add(m.buffers, draft.buffers-processBytes)
	m.cellBuffers = add(m.cellBuffers, draft.cellBuffers)
}

// maxPatches is the most patches of a picture that llama.cpp reserves for, in
// models with dynamic resolution.
const maxPatches = 4 * 46 * 46
