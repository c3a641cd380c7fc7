//go:build !llamacpp || !cgo

package matrix

// Compiled says that this program has llama.cpp, and so these kernels.
const Compiled = false

// Instructions is empty: this program has no kernels.
func Instructions() string { return "" }

// InstructionsFor is empty, too.
func InstructionsFor(format string, width int64) string { return "" }
