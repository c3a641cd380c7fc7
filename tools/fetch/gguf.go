package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
)

// The numbers that GGUF has for the types of values and of tensors.
const (
	ggufUint32  = 4
	ggufInt32   = 5
	ggufFloat32 = 6
	ggufBool    = 7
	ggufString  = 8
	ggufArray   = 9

	tensorF32 = 0
	tensorF16 = 1
)

// ggufAlignment is what the place of each tensor is a multiple of, in bytes.
const ggufAlignment = 32

// ggufFile is a GGUF file in the making. Keys and tensors keep their order.
type ggufFile struct {
	keys    int
	meta    bytes.Buffer
	tensors []tensor
}

// tensor is one of a model's. Its data is row by row.
type tensor struct {
	name  string
	shape []uint64 // the outermost dimension first
	kind  uint32
	data  []byte
}

// set adds a key with a value of one of the types that are listed here.
func (g *ggufFile) set(key string, value any) {
	g.keys++
	g.string(key)
	switch v := value.(type) {
	case uint32:
		g.number(ggufUint32, v)
	case float32:
		g.number(ggufFloat32, v)
	case bool:
		g.number(ggufBool, v)
	case string:
		g.number(uint32(ggufString))
		g.string(v)
	case []string:
		g.number(uint32(ggufArray), uint32(ggufString), uint64(len(v)))
		for _, s := range v {
			g.string(s)
		}
	case []int32:
		g.number(uint32(ggufArray), uint32(ggufInt32), uint64(len(v)), v)
	default:
		panic(fmt.Sprintf("no GGUF type for %T", value)) // a mistake of this program
	}
}

// number writes numbers of a fixed size. It cannot fail: the buffer grows.
func (g *ggufFile) number(values ...any) {
	for _, v := range values {
		if n, ok := v.(int); ok {
			v = uint32(n)
		}
		_ = binary.Write(&g.meta, binary.LittleEndian, v)
	}
}

func (g *ggufFile) string(s string) {
	g.number(uint64(len(s)))
	g.meta.WriteString(s)
}

// WriteTo writes the file.
func (g *ggufFile) WriteTo(out io.Writer) (int64, error) {
	var head ggufFile
	head.meta.WriteString("GGUF")
	head.number(uint32(3), uint64(len(g.tensors)), uint64(g.keys))
	head.meta.Write(g.meta.Bytes())
	offset := uint64(0)
	for _, t := range g.tensors {
		head.string(t.name)
		head.number(uint32(len(t.shape)))
		for i := range t.shape {
			head.number(t.shape[len(t.shape)-1-i])
		}
		head.number(t.kind, offset)
		offset += uint64(len(t.data) + padding(len(t.data)))
	}
	buffered := bufio.NewWriter(out)
	written := int64(0)
	for _, part := range append([]tensor{{data: head.meta.Bytes()}}, g.tensors...) {
		for _, b := range [][]byte{part.data, make([]byte, padding(len(part.data)))} {
			n, err := buffered.Write(b)
			written += int64(n)
			if err != nil {
				return written, err
			}
		}
	}
	return written, buffered.Flush()
}

// padding is how many bytes follow n to the next aligned place.
func padding(n int) int { return (ggufAlignment - n%ggufAlignment) % ggufAlignment }
