package gguf

import "fmt"

// ValueType is the type of a metadata value, as numbered in files.
type ValueType uint32

const (
	Uint8 ValueType = iota
	Int8
	Uint16
	Int16
	Uint32
	Int32
	Float32
	Bool
	String
	ArrayOf
	Uint64
	Int64
	Float64
)

var valueNames = [...]string{"uint8", "int8", "uint16", "int16", "uint32", "int32", "float32", "bool", "string", "array", "uint64", "int64", "float64"}

func (t ValueType) String() string {
	if int(t) < len(valueNames) {
		return valueNames[t]
	}
	return fmt.Sprintf("type %d", uint32(t))
}

// Width is the size of a scalar in bytes; 0: the type is not a scalar.
func (t ValueType) Width() int {
	switch t {
	case Uint8, Int8, Bool:
		return 1
	case Uint16, Int16:
		return 2
	case Uint32, Int32, Float32:
		return 4
	case Uint64, Int64, Float64:
		return 8
	}
	return 0
}

// Kind is the type of a value, with the element type of an array. llama.cpp accepts
// each number in one type only, mostly uint32 or float32.
type Kind struct {
	Type    ValueType
	Element ValueType // of an array
}

func (k Kind) String() string {
	if k.Type == ArrayOf {
		return "array of " + k.Element.String()
	}
	return k.Type.String()
}

// Kind returns the type of a key's value, and whether there is one.
func (f *File) Kind(key string) (Kind, bool) {
	k, ok := f.kinds[key]
	return k, ok
}
