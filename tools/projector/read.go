package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"

	"github.com/diglot/diglot/engine/gguf"
)

// textModel is what a projector needs of its text model.
type textModel struct {
	name, architecture string
	width              int // embedding length
	tokens             map[string]int

	file  *os.File
	table table
}

// table locates the token embeddings, one row per token.
type table struct {
	offset int64
	coding coding
	rows   int
}

// Close closes the file.
func (t *textModel) Close() { _ = t.file.Close() }

// openText reads the header of a GGUF file.
func openText(path string) (*textModel, error) {
	head, err := gguf.Open(path)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(head.Tensors, func(t gguf.Tensor) bool { return t.Name == "token_embd.weight" && len(t.Dims) == 2 })
	if i < 0 {
		return nil, errors.New("the file has no token embeddings")
	}
	tensor := head.Tensors[i]
	coding, ok := codings[tensor.Type]
	if !ok {
		return nil, fmt.Errorf("token embeddings of type %s are not supported", tensor.Type)
	}
	const vocabulary = "tokenizer.ggml.tokens"
	arrays, err := gguf.ReadArrays(path, vocabulary)
	if err != nil {
		return nil, err
	}
	tokens := map[string]int{}
	for i, token := range arrays[vocabulary].Strings {
		tokens[token] = i
	}
	file, err := os.Open(head.Paths[tensor.Part])
	if err != nil {
		return nil, err
	}
	return &textModel{
		name: head.String("general.name"), architecture: head.Architecture(), width: int(tensor.Dim(0)), tokens: tokens,
		file: file, table: table{offset: tensor.Offset, coding: coding, rows: int(tensor.Dim(1))},
	}, nil
}

// row returns the embedding of a token.
func (t *textModel) row(token int) ([]float32, error) {
	c := t.table.coding
	if token >= t.table.rows || t.width%c.numbers != 0 {
		return nil, fmt.Errorf("there is no embedding of token %d", token)
	}
	packed := make([]byte, t.width/c.numbers*c.bytes)
	if _, err := t.file.ReadAt(packed, t.table.offset+int64(token)*int64(len(packed))); err != nil {
		return nil, err
	}
	var row []float32
	for len(packed) > 0 {
		row = c.unpack(row, packed[:c.bytes])
		packed = packed[c.bytes:]
	}
	return row, nil
}

// coding is the block format of a tensor type.
type coding struct {
	numbers, bytes int
	unpack         func(to []float32, block []byte) []float32
}

// codings are those of token embeddings in small files.
var codings = map[gguf.Type]coding{
	gguf.F32: {1, 4, func(to []float32, b []byte) []float32 {
		return append(to, math.Float32frombits(binary.LittleEndian.Uint32(b)))
	}},
	gguf.F16: {1, 2, func(to []float32, b []byte) []float32 { return append(to, half(b)) }},
	6:        {32, 22, unpackQ50},
	8:        {32, 34, unpackQ80},
}

// unpackQ80 reads a scale and 32 signed bytes.
func unpackQ80(to []float32, block []byte) []float32 {
	scale := half(block)
	for _, b := range block[2:] {
		to = append(to, scale*float32(int8(b)))
	}
	return to
}

// unpackQ50 reads a scale, the fifth bits of 32 numbers, and their other four bits:
// first the low nibbles, then the high ones.
func unpackQ50(to []float32, block []byte) []float32 {
	scale, fifth, rest := half(block), binary.LittleEndian.Uint32(block[2:]), block[6:]
	for i := range 32 {
		n := rest[i%16] >> (i / 16 * 4) & 15
		n |= byte(fifth>>i&1) << 4
		to = append(to, scale*float32(int(n)-16))
	}
	return to
}

// half decodes an F16.
func half(b []byte) float32 {
	bits := binary.LittleEndian.Uint16(b)
	sign, exponent, fraction := bits>>15, int(bits>>10&31), float64(bits&1023)
	n := math.Ldexp(fraction/1024, -14) // subnormal
	switch {
	case exponent == 31 && fraction > 0:
		n = math.NaN()
	case exponent == 31:
		n = math.Inf(1)
	case exponent > 0:
		n = math.Ldexp(1+fraction/1024, exponent-15)
	}
	if sign == 1 {
		n = -n
	}
	return float32(n)
}
