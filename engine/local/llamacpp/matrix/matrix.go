//go:build llamacpp && cgo

package matrix

/*
#cgo CXXFLAGS: -std=c++17
#include "buffer.h"
#include "check.h"
#include "output.h"
#include <stdlib.h>
*/
import "C"

import (
	"unsafe"

	// Links ggml.
	_ "github.com/ollama/ollama/llama/llama.cpp/src"
)

// Compiled says that this program has llama.cpp, and so these kernels.
const Compiled = true

// Register makes ggml ask these kernels first, for models that are loaded from now
// on.
func Register() { C.matrix_register() }

// Choose says how the next model is loaded: with these kernels or without them.
// The token embeddings of some models are tied: they are the output layer too. Others only
// read texts, many tokens at once. So many threads lay out the weights.
func Choose(ours, tied, reads bool, threads int) {
	C.matrix_choose(C.bool(ours), C.bool(tied), C.bool(reads), C.int32_t(threads))
}

// Instructions names the instruction set that the kernels use here; empty: there
// are none for this processor.
func Instructions() string {
	if name := C.matrix_instructions(); name != nil {
		return C.GoString(name)
	}
	return ""
}

// InstructionsFor names those that multiply weights of a type, as GGUF names it, with
// so many columns; empty: ggml multiplies them.
func InstructionsFor(format string, width int64) string {
	given := C.CString(format)
	defer C.free(unsafe.Pointer(given))
	if name := C.matrix_instructions_for(given, C.int64_t(width)); name != nil {
		return C.GoString(name)
	}
	return ""
}

// Bytes are how many bytes of weights these kernels read.
func Bytes() int64 { return int64(C.matrix_bytes()) }

// Want says which rows of the output layer are wanted of each token that has logits, in
// order; none: all. It holds until [WantAll]; meanwhile only one computation may run.
// Of other rows the result may be minus infinity.
func Want(rows [][]int32) {
	var behind, all []int32
	for _, r := range rows {
		all = append(all, r...)
		behind = append(behind, int32(len(all)))
	}
	C.matrix_want(C.int32_t(len(rows)), (*C.int32_t)(unsafe.SliceData(behind)), (*C.int32_t)(unsafe.SliceData(all)))
}

// WantAll wants all rows.
func WantAll() { C.matrix_want_all() }

// product is a product, for a test.
type product struct {
	format                       string // of weights, as ggml names it
	width, rows, tokens, threads int
	experts, used                int  // 0: one matrix for all tokens
	own                          bool // activations for each expert that a token uses
	integers                     bool // multiply fp16 by integers, where there are kernels for that
	ggml                         bool // multiply by ggml's kernels
	values                       values
}

// values are those of weights and activations.
type values int

const (
	usual values = iota
	zeros
	subnormal
	smallScales
	largest
	nanRow   // one row of weights
	nanToken // of activations
)

func (p product) c() (given C.struct_matrix_case, free func()) {
	name := C.CString(p.format)
	given = C.struct_matrix_case{
		_type: name, width: C.int32_t(p.width), rows: C.int32_t(p.rows), tokens: C.int32_t(p.tokens), threads: C.int32_t(p.threads),
		experts: C.int32_t(p.experts), used: C.int32_t(p.used), values: C.int32_t(p.values),
	}
	for field, is := range map[*C.int32_t]bool{&given.own: p.own, &given.integers: p.integers, &given.ggml: p.ggml} {
		if is {
			*field = 1
		}
	}
	return given, func() { C.free(unsafe.Pointer(name)) }
}

// use makes ggml compute with the kernels of that name, if they run here.
func use(name string) bool {
	given := C.CString(name)
	defer C.free(unsafe.Pointer(given))
	return bool(C.matrix_use(given))
}

// difference is the largest one between the product by kernels and in double
// precision, relative to the sum of absolute products.
func (p product) difference() float64 {
	given, free := p.c()
	defer free()
	return float64(C.matrix_error(given))
}

// dependences counts the results of a token that have other bits when it is
// alone.
func (p product) dependences() int {
	given, free := p.c()
	defer free()
	return int(C.matrix_different(given))
}

// partDifferences counts the results of some rows of the output layer that have other
// bits than with all rows.
func (p product) partDifferences() int {
	given, free := p.c()
	defer free()
	return int(C.matrix_part_different(given))
}

// lookupDifference is the largest one between rows as laid out and in the file.
func (p product) lookupDifference() float64 {
	given, free := p.c()
	defer free()
	return float64(C.matrix_lookup_error(given))
}

// rowDifference is that of rows that ggml looks up, none of them row 1.
func (p product) rowDifference() float64 {
	given, free := p.c()
	defer free()
	return float64(C.matrix_row_error(given))
}

// supported reports whether llama.cpp would load weights of that name for these
// kernels: to multiply them, or to look up rows.
func (p product) supported(name string, lookup bool) bool {
	given, free := p.c()
	defer free()
	tensor := C.CString(name)
	defer C.free(unsafe.Pointer(tensor))
	return bool(C.matrix_supported(given, tensor, C.bool(lookup)))
}

// quantiseDifferences counts the activations that the kernels quantise unlike the
// plain form.
func (p product) quantiseDifferences() int {
	given, free := p.c()
	defer free()
	return int(C.matrix_quantise_error(given))
}

// geluForm is what GELU follows, see check.h.
type geluForm int

const (
	geluPlain geluForm = iota
	geluBias
	geluSplit
	geluJoined
	geluSwapped
)

// geluDifference is the largest one between GELU after a product, by these kernels
// or by ggml's, and in double precision.
func geluDifference(ours bool, form geluForm) float64 {
	return float64(C.matrix_gelu_error(C.bool(ours), C.int32_t(form)))
}

func gelu(x float32) float32 { return float32(C.matrix_gelu(C.float(x))) }

// normDifference is the largest one between the RMS norm after a product of so many
// columns and double precision, relative.
func normDifference(columns int) float64 { return float64(C.matrix_norm_error(C.int32_t(columns))) }

// normOurs reports whether the RMS norm of a product is computed here.
func normOurs(ours bool) bool { return bool(C.matrix_norm_ours(C.bool(ours))) }
