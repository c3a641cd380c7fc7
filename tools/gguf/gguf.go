// Package gguf writes GGUF files, in which llama.cpp keeps models: keys with
// values, then tensors.
package gguf

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
)

// The numbers that GGUF has for the types of values and of tensors.
const (
	TypeUint32  uint32 = 4
	TypeInt32   uint32 = 5
	TypeFloat32 uint32 = 6
	TypeBool    uint32 = 7
	TypeString  uint32 = 8
	TypeArray   uint32 = 9

	TensorF32 uint32 = 0
	TensorF16 uint32 = 1
)

const (
	// Magic is what a file begins with.
	Magic = "GGUF"

	// Alignment is what the place of each tensor is a multiple of, in bytes,
	// unless the file says otherwise.
	Alignment = 32

	version uint32 = 3
)

// File is a file in the making. Keys and tensors keep their order.
type File struct {
	Tensors []Tensor

	keys int
	meta bytes.Buffer
}

// Tensor is one of a model's. Its data is row by row.
type Tensor struct {
	Name  string
	Shape []uint64 // the outermost dimension first
	Type  uint32   // TensorF32 or TensorF16
	Data  []byte
}

// Set adds a key with a value of one of the types that are listed here.
func (f *File) Set(key string, value any) {
	f.keys++
	f.string(key)
	switch v := value.(type) {
	case uint32:
		f.number(TypeUint32, v)
	case float32:
		f.number(TypeFloat32, v)
	case bool:
		f.number(TypeBool, v)
	case string:
		f.number(TypeString)
		f.string(v)
	case []string:
		f.number(TypeArray, TypeString, uint64(len(v)))
		for _, s := range v {
			f.string(s)
		}
	case []int32:
		f.number(TypeArray, TypeInt32, uint64(len(v)), v)
	case []float32:
		f.number(TypeArray, TypeFloat32, uint64(len(v)), v)
	default:
		panic(fmt.Sprintf("no GGUF type for %T", value)) // a mistake of this program
	}
}

// number writes numbers of a fixed size. It cannot fail: the buffer grows.
func (f *File) number(values ...any) {
	for _, v := range values {
		_ = binary.Write(&f.meta, binary.LittleEndian, v)
	}
}

func (f *File) string(s string) {
	f.number(uint64(len(s)))
	f.meta.WriteString(s)
}

// WriteTo writes the file.
func (f *File) WriteTo(out io.Writer) (int64, error) {
	var head File
	head.meta.WriteString(Magic)
	head.number(version, uint64(len(f.Tensors)), uint64(f.keys))
	head.meta.Write(f.meta.Bytes())
	offset := uint64(0)
	for _, t := range f.Tensors {
		head.string(t.Name)
		head.number(uint32(len(t.Shape)))
		for i := range t.Shape {
			head.number(t.Shape[len(t.Shape)-1-i])
		}
		head.number(t.Type, offset)
		offset += uint64(len(t.Data) + padding(len(t.Data)))
	}
	buffered := bufio.NewWriter(out)
	written := int64(0)
	for _, part := range append([]Tensor{{Data: head.meta.Bytes()}}, f.Tensors...) {
		for _, b := range [][]byte{part.Data, make([]byte, padding(len(part.Data)))} {
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
func padding(n int) int { return (Alignment - n%Alignment) % Alignment }
