package memory

import (
	"slices"

	"github.com/diglot/diglot/engine/gguf"
)

// model is what matters of a model's files. The numbers are in bytes unless
// they say otherwise.
type model struct {
	file *gguf.File

	trained int  // tokens
	placed  bool // it has a table of the places in a text, which ends there
	embeds  bool // it makes vectors and nothing else
	whole   bool // an input is read at once
	rows    int  // tokens of a batch

	weights     int64
	cell        int64 // of the cache, for each token
	state       int64 // of the cache, whatever the tokens
	buffers     int64
	row         int64 // of them, for each token of a batch
	mask        int64 // and for each such token and one of the cache
	cellBuffers int64 // of the buffers, for each token of the cache
}

// maxNumber bounds what files say of themselves: above every real model, and
// small enough that products of these numbers fit.
const maxNumber = 1 << 20

// number reads a key of the architecture; absent where it is not there or
// makes no sense.
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
		weights: weightsOf(file),
	}
	if m.trained == 0 {
		m.trained = beside
	}
	m.placed = slices.ContainsFunc(file.Tensors, func(t gguf.Tensor) bool { return t.Name == "position_embd.weight" })
	m.embeds, m.whole = file.Embeds()
	a := attentionOf(file)
	if m.embeds && !file.Causal() {
		a.kvHeads = nil // an encoder remembers nothing
	}
	m.cell = a.cell()
	m.state = times(stateOf(file, a), options.parallel())
	m.rows = Piece + options.parallel()
	switch {
	case m.embeds && m.whole:
		m.rows = max(m.contextFor(options), Whole)
	case m.embeds:
		m.rows = Whole
	}
	m.addBuffers(a, max(options.Threads, 1))
	return m
}

// weightsOf is what the tensors take: parts of the mapped file, or copies of
// them in another order, but not both (see the package comment). A matrix that
// both reads tokens and writes them is there twice where it is copied.
func weightsOf(file *gguf.File) int64 {
	sum := bytesOf(file)
	tied := !slices.ContainsFunc(file.Tensors, func(t gguf.Tensor) bool { return t.Name == "output.weight" })
	for _, t := range file.Tensors {
		if tied && t.Name == "token_embd.weight" && slices.Contains(copied, t.Type.String()) {
			sum = add(sum, t.Bytes)
		}
	}
	return sum
}

// copied are the types whose matrices llama.cpp copies, on one processor or
// another.
var copied = []string{"Q4_0", "Q4_K", "Q2_K", "IQ4_NL"}

func bytesOf(file *gguf.File) int64 {
	sum := int64(0)
	for _, t := range file.Tensors {
		sum = add(sum, t.Bytes)
	}
	return sum
}

// most is where sums and products saturate, so that three of them can be added:
// a file may claim anything, and its tensors may overlap.
const most = 1 << 60

func add(a, b int64) int64 { return min(a+b, most) }

func times(a int64, n int) int64 {
	if a > 0 && int64(n) > most/a {
		return most
	}
	return a * int64(n)
}

// addProjector counts what lets the model see. Its tensors are read into
// memory, and so are the numbers of one picture.
func (m *model) addProjector(file *gguf.File) {
	m.weights = add(m.weights, bytesOf(file))
	// A picture whose tokens see each other is read at once.
	m.buffers += (Whole - Piece) * m.row
	m.cellBuffers += (Whole - Piece) * m.mask
	side := number(file, "vision.image_size", 448) / max(number(file, "vision.patch_size", 14), 1)
	width := number(file, "vision.embedding_length", 1024)
	inner := number(file, "vision.feed_forward_length", 4*width)
	m.buffers = add(m.buffers, min(side*side, maxPatches)*(6*width+2*inner)*float32Bytes)
}

// maxPatches is how many pieces of a picture are looked at together, in models
// that take pictures of any size: the largest number that llama.cpp prepares
// for.
const maxPatches = 4 * 46 * 46
