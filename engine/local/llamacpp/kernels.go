package llamacpp

import (
	"maps"
	"slices"
	"strings"

	"github.com/diglot/diglot/engine/gguf"
	"github.com/diglot/diglot/engine/local/llamacpp/matrix"
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

func (k Kernels) String() string {
	if k == KernelsGGML {
		return "ggml"
	}
	return "own"
}

// LaidOut are the types of weights that these kernels lay out, for products and
// for lookups.
func (k Kernels) LaidOut() []string {
	if k == KernelsGGML || !matrix.Compiled || matrix.Instructions() == "" {
		return nil
	}
	return matrix.Formats()
}

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

// DescribeKernels says which kernels compute the matrices of a file on this
// machine; empty: this program has no llama.cpp.
func DescribeKernels(file *gguf.File) string { return KernelsOwn.describe(file) }

func (k Kernels) describe(file *gguf.File) string {
	if !matrix.Compiled {
		return ""
	}
	instructions := matrix.Instructions()
	if k == KernelsGGML {
		instructions = ""
	}
	own, others := map[string]bool{}, map[string]bool{}
	for _, t := range file.Tensors {
		switch format := t.Type.String(); {
		case len(t.Dims) < 2, format == "F32": // not quantised, or no matrix
		case matrix.Has(format) && (len(t.Dims) == 2 || strings.Contains(t.Name, "_exps.")):
			own[format] = true
		default:
			others[format] = true
		}
	}
	return describeKernels(instructions, slices.Sorted(maps.Keys(own)), slices.Sorted(maps.Keys(others)))
}

func describeKernels(instructions string, own, others []string) string {
	if instructions == "" {
		others = append(others, own...)
		slices.Sort(others)
		own = nil
	}
	var parts []string
	if len(own) > 0 {
		parts = append(parts, instructions+" for "+strings.Join(own, ", "))
	}
	if len(others) > 0 {
		parts = append(parts, "ggml for "+strings.Join(others, ", "))
	}
	return strings.Join(parts, "; ")
}
