package gguf

import (
	"bytes"
	"encoding/binary"
	"math"
)

// builder writes heads of files, wrong ones too.
type builder struct{ bytes.Buffer }

func newFile(tensors, keys uint64) *builder {
	b := &builder{}
	b.WriteString("GGUF")
	return b.u32(3).u64(tensors).u64(keys)
}

func (b *builder) u32(v uint32) *builder {
	b.Write(binary.LittleEndian.AppendUint32(nil, v))
	return b
}

func (b *builder) u64(v uint64) *builder {
	b.Write(binary.LittleEndian.AppendUint64(nil, v))
	return b
}

func (b *builder) str(s string) *builder {
	b.u64(uint64(len(s))).WriteString(s)
	return b
}

func (b *builder) tensor(name string, kind uint32, offset uint64, dims ...uint64) *builder {
	b.str(name).u32(uint32(len(dims)))
	for _, d := range dims {
		b.u64(d)
	}
	return b.u32(kind).u64(offset)
}

// data pads to the alignment and adds n bytes.
func (b *builder) data(n int) *builder {
	b.Write(make([]byte, (32-b.Len()%32)%32+n))
	return b
}

// small is a whole file with one of each kind of value.
func small() *builder {
	b := newFile(2, 7)
	b.str("general.architecture").u32(valueString).str("llama")
	b.str("llama.block_count").u32(valueUint32).u32(4)
	b.str("general.sampling.temp").u32(valueFloat32).u32(math.Float32bits(0.5))
	b.str("tokenizer.ggml.tokens").u32(valueArray).u32(valueString).u64(2).str("a").str("bc")
	b.str("llama.attention.head_count_kv").u32(valueArray).u32(valueInt32).u64(2).u32(3).u32(5)
	b.str("llama.pattern").u32(valueArray).u32(valueBool).u64(2).Write([]byte{1, 0})
	b.str("flag").u32(valueBool).WriteByte(1)
	b.tensor("one", 0, 0, 4, 2).tensor("two", 12, 32, 256)
	return b.data(32 + 144)
}
