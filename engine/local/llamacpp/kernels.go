package llamacpp

import (
	"slices"

	"github.com/diglot/diglot/engine/gguf"
)

// Kernels are functions that compute matrix products.
type Kernels int

const (
	// KernelsOwn are those of package matrix, for the types of weights and the
	// processors that they exist for, and llama.cpp's for the others.
	KernelsOwn Kernels = iota

	// KernelsGGML are llama.cpp's, for finding faults.
	KernelsGGML
)

// kernels is how the weights of a file are computed.
type kernels struct {
	ours bool
	tied bool // the token embeddings are the output layer, too
}

func (o Options) kernels(file *gguf.File) kernels {
	return kernels{
		ours: o.Kernels == KernelsOwn,
		tied: !slices.ContainsFunc(file.Tensors, func(t gguf.Tensor) bool { return t.Name == "output.weight" }),
	}
}
