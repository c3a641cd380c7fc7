package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/diglot/diglot/tools/gguf"
)

// textModel is what a projector must know of the model that it is for.
type textModel struct {
	name, architecture string
	width              int // numbers that stand for one token
	tokens             map[string]int

	file  *os.File
	table table
}

// table is where the numbers for tokens are, a row for each.
type table struct {
	offset int64
	coding coding
	rows   int
}

// Close closes the file.
func (t *textModel) Close() { _ = t.file.Close() }

// openText reads the head of a GGUF file.
func openText(path string) (*textModel, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	t := &textModel{file: file, tokens: map[string]int{}}
	h := &head{in: bufio.NewReader(file)}
	if err := h.read(t); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// head reads the head of a file. The first error stays.
type head struct {
	in  *bufio.Reader
	at  int64
	err error
}

func (h *head) Read(p []byte) (int, error) {
	n, err := h.in.Read(p)
	h.at += int64(n)
	return n, err
}

func (h *head) uint32() uint32 { return uint32(h.number(4)) }
func (h *head) uint64() uint64 { return h.number(8) }

// number reads one of so many bytes.
func (h *head) number(bytes int) uint64 {
	var b [8]byte
	if h.err == nil {
		_, h.err = io.ReadFull(h, b[:bytes])
	}
	return binary.LittleEndian.Uint64(b[:])
}

func (h *head) string() string {
	const longest = 1 << 24
	n := h.uint64()
	if h.err == nil && n > longest {
		h.err = errors.New("a string in the file is too long to be one")
	}
	if h.err != nil {
		return ""
	}
	b := make([]byte, n)
	_, h.err = io.ReadFull(h, b)
	return string(b)
}

// sizes are the bytes of values of one size, by their types.
var sizes = map[uint32]int{0: 1, 1: 1, 2: 2, 3: 2, gguf.TypeUint32: 4, gguf.TypeInt32: 4, gguf.TypeFloat32: 4, gguf.TypeBool: 1, 10: 8, 11: 8, 12: 8}

// value reads a value and gives its elements to each: one, or those of an
// array.
func (h *head) value(kind uint32, each func(i int, s string, n uint64)) {
	count := uint64(1)
	if kind == gguf.TypeArray {
		kind, count = h.uint32(), h.uint64()
	}
	for i := uint64(0); i < count && h.err == nil; i++ {
		if kind == gguf.TypeString {
			each(int(i), h.string(), 0)
			continue
		}
		size, ok := sizes[kind]
		if !ok {
			h.err = fmt.Errorf("a value in the file has the unknown type %d", kind)
			return
		}
		each(int(i), "", h.number(size))
	}
}

func (h *head) read(t *textModel) error {
	if magic := h.uint32(); h.err == nil && magic != binary.LittleEndian.Uint32([]byte(gguf.Magic)) {
		return errors.New("not a GGUF file")
	}
	h.uint32() // version
	tensors, values := h.uint64(), h.uint64()
	align := int64(gguf.Alignment)
	for range values {
		name := h.string()
		h.value(h.uint32(), func(i int, s string, n uint64) {
			switch name {
			case "general.name":
				t.name = s
			case "general.architecture":
				t.architecture = s
			case "general.alignment":
				align = int64(n)
			case "tokenizer.ggml.tokens":
				t.tokens[s] = i
			}
		})
		if h.err != nil {
			return h.err
		}
	}
	found := false
	for range tensors {
		found = h.tensor(t) || found
	}
	if h.err != nil {
		return h.err
	}
	if !found {
		return errors.New("the file has no table of tokens")
	}
	t.table.offset += (h.at + align - 1) / align * align
	return nil
}

// tensor reads the head of one tensor; true: it is the table.
func (h *head) tensor(t *textModel) bool {
	name := h.string()
	var dimensions []int
	for range h.uint32() {
		dimensions = append(dimensions, int(h.uint64()))
		if h.err != nil {
			return false
		}
	}
	kind, offset := h.uint32(), h.uint64()
	if h.err != nil || name != "token_embd.weight" || len(dimensions) != 2 {
		return false
	}
	c, ok := codings[kind]
	if !ok {
		h.err = fmt.Errorf("the table of tokens is of type %d, which this program does not read", kind)
		return false
	}
	t.width = dimensions[0]
	t.table = table{offset: int64(offset), coding: c, rows: dimensions[1]}
	return true
}

// row reads what stands for one token.
func (t *textModel) row(token int) ([]float32, error) {
	c := t.table.coding
	if token >= t.table.rows || t.width%c.numbers != 0 {
		return nil, fmt.Errorf("the table of tokens has no row %d", token)
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

// coding is how a tensor's numbers are packed, in blocks.
type coding struct {
	numbers, bytes int
	unpack         func(to []float32, block []byte) []float32
}

// codings are those that tables of tokens have in small files, by their number
// in GGUF.
var codings = map[uint32]coding{
	gguf.TensorF32: {1, 4, func(to []float32, b []byte) []float32 {
		return append(to, math.Float32frombits(binary.LittleEndian.Uint32(b)))
	}},
	gguf.TensorF16: {1, 2, func(to []float32, b []byte) []float32 { return append(to, half(b)) }},
	6:              {32, 22, unpackQ50},
	8:              {32, 34, unpackQ80},
}

// unpackQ80 reads a scale and 32 signed bytes.
func unpackQ80(to []float32, block []byte) []float32 {
	scale := half(block)
	for _, b := range block[2:] {
		to = append(to, scale*float32(int8(b)))
	}
	return to
}

// unpackQ50 reads a scale, the fifth bits of 32 numbers, and their other four:
// first the low halves of all bytes, then the high ones.
func unpackQ50(to []float32, block []byte) []float32 {
	scale, fifth, rest := half(block), binary.LittleEndian.Uint32(block[2:]), block[6:]
	for i := range 32 {
		n := rest[i%16] >> (i / 16 * 4) & 15
		n |= byte(fifth>>i&1) << 4
		to = append(to, scale*float32(int(n)-16))
	}
	return to
}

// half reads a float of 16 bits.
func half(b []byte) float32 {
	bits := binary.LittleEndian.Uint16(b)
	sign, exponent, fraction := bits>>15, int(bits>>10&31), float64(bits&1023)
	n := math.Ldexp(fraction/1024, -14) // too small for a leading one
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
