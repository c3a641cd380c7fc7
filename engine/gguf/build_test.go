package gguf

// builder writes headers by hand: ones that [Draft] has no words for.
type builder struct{ encoder }

func newFile(tensors, keys int) *builder {
	b := &builder{}
	b.start(version, tensors, keys)
	return b
}

func (b *builder) u32(v uint32) *builder {
	b.number(uint64(v), 4)
	return b
}

func (b *builder) u64(v uint64) *builder {
	b.number(v, 8)
	return b
}

func (b *builder) kind(types ...ValueType) *builder {
	for _, t := range types {
		b.u32(uint32(t))
	}
	return b
}

func (b *builder) str(s string) *builder {
	b.text(s)
	return b
}

func (b *builder) tensor(name string, kind Type, offset uint64, dims ...uint64) *builder {
	b.encoder.tensor(name, kind, offset, dims...)
	return b
}

// data pads to the alignment and adds n bytes.
func (b *builder) data(n int) *builder {
	b.pad(minAlignment)
	b.Write(make([]byte, n))
	return b
}

// small is a whole file with one of each kind of value.
func small() *Draft {
	d := &Draft{Tensors: []Weight{{Name: "one", Dims: []uint64{4, 2}}, {Name: "two", Type: 12, Dims: []uint64{512}}}}
	d.Set("general.architecture", "llama")
	d.Set("llama.block_count", uint32(4))
	d.Set("general.sampling.temp", float32(0.6))
	d.Set("tokenizer.ggml.tokens", []string{"a", "bc"})
	d.Set("llama.attention.head_count_kv", []int32{3, 5})
	d.Keys = append(d.Keys, Key{Name: "llama.pattern", Type: ArrayOf, Array: Values{Type: Bool, Bits: []uint64{1, 0}}})
	d.Set("flag", true)
	return d
}
