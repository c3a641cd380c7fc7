package gguf

import (
	"fmt"
	"math"
	"math/bits"
)

// Tensor is a tensor's header.
type Tensor struct {
	Name     string
	Type     Type
	Dims     []int64 // innermost first, as in the file; 4 at most
	Elements int64   // product of Dims
	Offset   int64   // of its data, in the file of its part
	Bytes    int64   // 0: the type is unknown
	Part     int     // index into File.Paths
}

// Dim is the size of a dimension; missing ones are 1.
func (t Tensor) Dim(i int) int64 {
	if i < len(t.Dims) {
		return t.Dims[i]
	}
	return 1
}

// Type is ggml_type.
type Type uint32

const (
	F32 Type = 0
	F16 Type = 1
)

// String is ggml's name of the type.
func (t Type) String() string {
	if l, ok := layouts[t]; ok {
		return l.name
	}
	return fmt.Sprintf("type %d", uint32(t))
}

// Size is the size of elements in bytes; 0: the type is unknown. It saturates.
func (t Type) Size(elements int64) int64 {
	l, ok := layouts[t]
	if !ok || elements <= 0 {
		return 0
	}
	over, size := bits.Mul64(uint64(elements)/l.elements, l.bytes)
	if over != 0 || size > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(size)
}

// layouts has ggml's block sizes, in elements and bytes.
var layouts = map[Type]struct {
	name            string
	elements, bytes uint64
}{
	F32: {"F32", 1, 4},
	F16: {"F16", 1, 2},
	2:   {"Q4_0", 32, 18},
	3:   {"Q4_1", 32, 20},
	6:   {"Q5_0", 32, 22},
	7:   {"Q5_1", 32, 24},
	8:   {"Q8_0", 32, 34},
	9:   {"Q8_1", 32, 36},
	10:  {"Q2_K", 256, 84},
	11:  {"Q3_K", 256, 110},
	12:  {"Q4_K", 256, 144},
	13:  {"Q5_K", 256, 176},
	14:  {"Q6_K", 256, 210},
	15:  {"Q8_K", 256, 292},
	16:  {"IQ2_XXS", 256, 66},
	17:  {"IQ2_XS", 256, 74},
	18:  {"IQ3_XXS", 256, 98},
	19:  {"IQ1_S", 256, 50},
	20:  {"IQ4_NL", 32, 18},
	21:  {"IQ3_S", 256, 110},
	22:  {"IQ2_S", 256, 82},
	23:  {"IQ4_XS", 256, 136},
	24:  {"I8", 1, 1},
	25:  {"I16", 1, 2},
	26:  {"I32", 1, 4},
	27:  {"I64", 1, 8},
	28:  {"F64", 1, 8},
	29:  {"IQ1_M", 256, 56},
	30:  {"BF16", 1, 2},
	34:  {"TQ1_0", 256, 54},
	35:  {"TQ2_0", 256, 66},
	39:  {"MXFP4", 32, 17},
}
