package gguf

import "fmt"

// ValueType is how a value of the metadata is stored. The numbers are those of
// the format.
type ValueType uint32

// The types of metadata values, by number.
const (
	valueUint8 = iota
	valueInt8
	valueUint16
	valueInt16
	valueUint32
	valueInt32
	valueFloat32
	valueBool
	valueString
	valueArray
	valueUint64
	valueInt64
	valueFloat64
)

// The types of values.
const (
	Uint8   ValueType = valueUint8
	Int8    ValueType = valueInt8
	Uint16  ValueType = valueUint16
	Int16   ValueType = valueInt16
	Uint32  ValueType = valueUint32
	Int32   ValueType = valueInt32
	Float32 ValueType = valueFloat32
	Bool    ValueType = valueBool
	String  ValueType = valueString
	ArrayOf ValueType = valueArray
	Uint64  ValueType = valueUint64
	Int64   ValueType = valueInt64
	Float64 ValueType = valueFloat64
)

var valueNames = [...]string{"uint8", "int8", "uint16", "int16", "uint32", "int32", "float32", "bool", "string", "array", "uint64", "int64", "float64"}

func (t ValueType) String() string {
	if int(t) < len(valueNames) {
		return valueNames[t]
	}
	return fmt.Sprintf("type %d", uint32(t))
}

// Kind is the type of a value, and for an array also that of its elements.
// llama.cpp takes a number in one type alone, mostly uint32 or float32.
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

// Kind says how the value of a key is stored, and whether there is one.
func (f *File) Kind(key string) (Kind, bool) {
	k, ok := f.kinds[key]
	return k, ok
}
