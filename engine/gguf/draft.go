package gguf

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
)

// Draft is a file to be written by tools and tests. It is not validated, so it can
// make invalid files.
type Draft struct {
	Keys      []Key
	Tensors   []Weight
	Alignment int64 // of tensors; 0: the default. It writes no key
}

// Key is a metadata key with its value.
type Key struct {
	Name  string
	Type  ValueType
	Bits  uint64 // of a number
	Text  string
	Array Values
}

// Values is the value of a key that is an array.
type Values struct {
	Type  ValueType
	Bits  []uint64
	Texts []string
}

// Weight is a tensor with its data.
type Weight struct {
	Name  string
	Type  Type
	Dims  []uint64 // innermost first, as in the file
	Shift uint64   // added to the right offset
	Data  []byte   // nil: zeros
}

// maxDraft bounds sparse files.
const maxDraft = 1 << 40

// Set appends [KeyOf] name and value.
func (d *Draft) Set(name string, value any) { d.Keys = append(d.Keys, KeyOf(name, value)) }

// Clone returns a copy with its own lists; their elements are shallow copies.
func (d *Draft) Clone() *Draft {
	return &Draft{slices.Clone(d.Keys), slices.Clone(d.Tensors), d.Alignment}
}

// KeyOf returns a key. It panics if GGUF has no type for the value.
func KeyOf(name string, value any) Key {
	switch v := value.(type) {
	case string:
		return Key{Name: name, Type: String, Text: v}
	case []string:
		return Key{Name: name, Type: ArrayOf, Array: Values{Type: String, Texts: v}}
	case []byte:
		return arrayKey(name, v)
	case []uint32:
		return arrayKey(name, v)
	case []int32:
		return arrayKey(name, v)
	case []float32:
		return arrayKey(name, v)
	}
	kind, bits := scalarOf(value)
	return Key{Name: name, Type: kind, Bits: bits}
}

func arrayKey[T byte | uint32 | int32 | float32](name string, values []T) Key {
	kind, _ := scalarOf(T(0))
	k := Key{Name: name, Type: ArrayOf, Array: Values{Type: kind}}
	for _, v := range values {
		_, bits := scalarOf(v)
		k.Array.Bits = append(k.Array.Bits, bits)
	}
	return k
}

func scalarOf(value any) (ValueType, uint64) {
	switch v := value.(type) {
	case byte:
		return Uint8, uint64(v)
	case uint16:
		return Uint16, uint64(v)
	case uint32:
		return Uint32, uint64(v)
	case int32:
		return Int32, uint64(v)
	case float32:
		return Float32, uint64(math.Float32bits(v))
	case bool:
		return Bool, bitsOf(Bool, v)
	}
	panic(fmt.Sprintf("no GGUF type for %T", value)) // a bug of the caller
}

// DraftOf reads the header of a file, to write it with changes. Tensor data is zero.
func DraftOf(path string) (*Draft, error) {
	file, err := Open(path)
	if err != nil {
		return nil, err
	}
	d := &Draft{}
	names := make([]string, len(file.spans))
	for i, s := range file.spans {
		names[i] = s.key
	}
	arrays, err := ReadArrays(path, names...)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		kind := file.kinds[name]
		k := Key{Name: name, Type: kind.Type, Bits: bitsOf(kind.Type, file.meta[name]), Text: file.String(name)}
		if kind.Type == ArrayOf {
			k.Array = Values{Type: kind.Element, Texts: arrays[name].Strings}
			for _, n := range arrays[name].Numbers {
				k.Array.Bits = append(k.Array.Bits, bitsOf(kind.Element, n))
			}
		}
		d.Keys = append(d.Keys, k)
	}
	for _, t := range file.Tensors {
		d.Tensors = append(d.Tensors, Weight{Name: t.Name, Type: t.Type, Dims: t.dims()})
	}
	d.Alignment, err = file.alignment()
	return d, err
}

// bitsOf encodes a value that was read.
func bitsOf(t ValueType, value any) uint64 {
	switch v := value.(type) {
	case bool:
		return map[bool]uint64{true: 1}[v]
	case int64:
		return uint64(v)
	case uint64:
		return v
	case float64:
		switch {
		case t == Float32:
			return uint64(math.Float32bits(float32(v)))
		case t == Float64:
			return math.Float64bits(v)
		case v < 0:
			return uint64(int64(v))
		}
		return uint64(v)
	}
	return 0
}

// WriteTo writes the file.
func (d *Draft) WriteTo(out io.Writer) (int64, error) {
	written := int64(0)
	write := func(r io.Reader) error {
		n, err := io.Copy(out, r)
		written += n
		return err
	}
	for at, data := range d.sections() {
		if err := write(io.MultiReader(zeros(at-written), bytes.NewReader(data))); err != nil {
			return written, err
		}
	}
	return written, write(zeros(d.size() - written))
}

// Bytes returns the file.
func (d *Draft) Bytes() []byte {
	var b bytes.Buffer
	_, _ = d.WriteTo(&b) // bytes.Buffer never fails
	return b.Bytes()
}

// Write writes the file to a path, with holes for missing data.
func (d *Draft) Write(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Truncate(d.size()); err != nil {
		return err
	}
	for at, data := range d.sections() {
		if _, err := f.WriteAt(data, at); err != nil {
			return err
		}
	}
	return f.Close()
}
