package llamacpp

import (
	"cmp"
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

	reads bool // the model only reads texts

	threads int // that lay out weights
}

func (o Options) kernels(file *gguf.File) kernels {
	embeds, _ := file.Embeds()
	return kernels{
		ours: o.Kernels == KernelsOwn,
		tied: !slices.ContainsFunc(file.Tensors, func(t gguf.Tensor) bool { return t.Name == "output.weight" }),

		reads: embeds,

		threads: o.Threads,
	}
}

// DescribeKernels says which kernels multiply the matrices of a file on this
// machine; empty: this program has no llama.cpp.
func DescribeKernels(file *gguf.File) string { return KernelsOwn.describe(file) }

func (k Kernels) describe(file *gguf.File) string {
	if !matrix.Compiled {
		return ""
	}
	instructions := matrix.InstructionsFor
	if k == KernelsGGML {
		instructions = func(string, int64) string { return "" }
	}
	return describeKernels(file.Tensors, Options{}.kernels(file).tied, instructions)
}

// describeKernels lists the types of matrices by what multiplies them: as instructions
// says of types and widths, or ggml, which comes last.
func describeKernels(tensors []gguf.Tensor, tied bool, instructions func(format string, width int64) string) string {
	const ggml = "ggml"
	formats := map[string][]string{}
	for _, t := range tensors {
		format := t.Type.String()
		if len(t.Dims) < 2 || lookedUp(t.Name, tied) {
			continue
		}
		by := ggml
		if len(t.Dims) == 2 || strings.Contains(t.Name, "_exps.") {
			by = cmp.Or(instructions(format, t.Dim(0)), ggml)
		}
		formats[by] = append(formats[by], format)
	}
	names := slices.Sorted(maps.Keys(formats)) // ggml is behind all others, which begin with capitals
	for i, by := range names {
		slices.Sort(formats[by])
		names[i] = by + " for " + strings.Join(slices.Compact(formats[by]), ", ")
	}
	return strings.Join(names, "; ")
}

// lookedUp reports whether a matrix is only one of vectors for tokens or positions,
// which are looked up and not multiplied.
func lookedUp(name string, tied bool) bool {
	if name == "token_embd.weight" {
		return !tied
	}
	return strings.HasSuffix(name, "_embd.weight") || name == "token_types.weight"
}
