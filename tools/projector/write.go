package main

import (
	"bytes"
	"encoding/binary"
)

// Types of GGUF values and tensors.
const (
	typeUint32  = 4
	typeFloat32 = 6
	typeBool    = 7
	typeString  = 8
	typeArray   = 9

	tensorF32 = 0
)

const (
	ggufMagic   = "GGUF"
	ggufVersion = 3
	alignment   = 32
)

// ggufFile is a GGUF file in the making.
type ggufFile struct {
	values      int // in pairs
	pairs       bytes.Buffer
	tensors     int
	heads, data bytes.Buffer
}

func put(b *bytes.Buffer, value any) { _ = binary.Write(b, binary.LittleEndian, value) } // a buffer takes everything

func putString(b *bytes.Buffer, s string) {
	put(b, uint64(len(s)))
	b.WriteString(s)
}

func (f *ggufFile) key(name string, kind uint32) {
	f.values++
	putString(&f.pairs, name)
	put(&f.pairs, kind)
}

func (f *ggufFile) string(name, value string) {
	f.key(name, typeString)
	putString(&f.pairs, value)
}

func (f *ggufFile) bool(name string, value bool) {
	f.key(name, typeBool)
	put(&f.pairs, value)
}

func (f *ggufFile) uint32(name string, value uint32) {
	f.key(name, typeUint32)
	put(&f.pairs, value)
}

func (f *ggufFile) float32(name string, value float32) {
	f.key(name, typeFloat32)
	put(&f.pairs, value)
}

func (f *ggufFile) floats(name string, values []float32) {
	f.key(name, typeArray)
	put(&f.pairs, uint32(typeFloat32))
	put(&f.pairs, uint64(len(values)))
	put(&f.pairs, values)
}

// tensor adds numbers; the first dimension is that of neighbours.
func (f *ggufFile) tensor(name string, numbers []float32, dimensions ...int) {
	f.tensors++
	putString(&f.heads, name)
	put(&f.heads, uint32(len(dimensions)))
	for _, d := range dimensions {
		put(&f.heads, uint64(d))
	}
	put(&f.heads, uint32(tensorF32))
	put(&f.heads, uint64(f.data.Len()))
	put(&f.data, numbers)
	pad(&f.data)
}

func pad(b *bytes.Buffer) {
	b.Write(make([]byte, (alignment-b.Len()%alignment)%alignment))
}

// bytes is the file.
func (f *ggufFile) bytes() []byte {
	var b bytes.Buffer
	b.WriteString(ggufMagic)
	put(&b, uint32(ggufVersion))
	put(&b, uint64(f.tensors))
	put(&b, uint64(f.values))
	b.Write(f.pairs.Bytes())
	b.Write(f.heads.Bytes())
	pad(&b)
	b.Write(f.data.Bytes())
	return b.Bytes()
}
