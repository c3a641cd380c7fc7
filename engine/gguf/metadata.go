package gguf

// Architecture is llama.cpp's name of the model's architecture, such as "llama" or
// "qwen2".
func (f *File) Architecture() string { return f.String("general.architecture") }

// Context is the training context in tokens; 0: unknown.
func (f *File) Context() int {
	n, _ := f.Int(f.Key("context_length"))
	return int(max(n, 0))
}

// Template is the model's Jinja chat template; empty: it has none.
func (f *File) Template() string { return f.String("tokenizer.chat_template") }

// Parameters is the number of elements of all tensors.
func (f *File) Parameters() int64 {
	sum := int64(0)
	for _, t := range f.Tensors {
		if sum += t.Elements; sum < 0 {
			return 0
		}
	}
	return sum
}

// IsProjector reports whether the file is a multimodal projector (mmproj).
func (f *File) IsProjector() bool {
	return f.Architecture() == "clip" || f.String("general.type") == "mmproj"
}

// SeesImages reports whether the projector has a vision encoder.
func (f *File) SeesImages() bool {
	sees, _ := f.Bool("clip.has_vision_encoder")
	return sees
}

// IsAdapter reports whether the file is an adapter (LoRA).
func (f *File) IsAdapter() bool {
	return f.String("general.type") == "adapter" || f.String("adapter.type") != ""
}

// Part is the index of this file among the parts of a split model, and their number:
// 0 of 1 for a model in one file.
func (f *File) Part() (number, of int) {
	count, ok := f.Int("split.count")
	if !ok || count <= 1 {
		return 0, 1
	}
	n, _ := f.Int("split.no")
	return int(n), int(count)
}

// Quantization is the name of general.file_type, such as "Q4_K_M" or "F16". If that is
// missing or unknown, it is the type of most bytes; empty: there are no tensors.
func (f *File) Quantization() string {
	if n, ok := f.Int("general.file_type"); ok {
		if name, ok := fileTypes[n]; ok {
			return name
		}
	}
	bytes := map[Type]int64{}
	for _, t := range f.Tensors {
		bytes[t.Type] += t.Bytes
	}
	var most Type
	for kind, n := range bytes {
		if n > bytes[most] || n == bytes[most] && kind < most {
			most = kind
		}
	}
	if bytes[most] == 0 {
		return ""
	}
	return most.String()
}

// fileTypes are the names of general.file_type (llama_ftype).
var fileTypes = map[int64]string{
	0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1",
	10: "Q2_K", 11: "Q3_K_S", 12: "Q3_K_M", 13: "Q3_K_L", 14: "Q4_K_S", 15: "Q4_K_M", 16: "Q5_K_S", 17: "Q5_K_M", 18: "Q6_K",
	19: "IQ2_XXS", 20: "IQ2_XS", 21: "Q2_K_S", 22: "IQ3_XS", 23: "IQ3_XXS", 24: "IQ1_S", 25: "IQ4_NL", 26: "IQ3_S",
	27: "IQ3_M", 28: "IQ2_S", 29: "IQ2_M", 30: "IQ4_XS", 31: "IQ1_M", 32: "BF16", 36: "TQ1_0", 37: "TQ2_0", 38: "MXFP4",
}

// Causal reports whether attention is causal, as in all generating models.
func (f *File) Causal() bool {
	causal, ok := f.Bool(f.Key("attention.causal"))
	return causal || !ok
}

// Pooling types (llama_pooling_type).
const (
	PoolingNone = 0
	PoolingMean = 1
	PoolingCLS  = 2 // the first token
	PoolingLast = 3
	PoolingRank = 4 // a reranker's score
)

// Pooling is the model's pooling type.
func (f *File) Pooling() int64 {
	n, _ := f.Int(f.Key("pooling_type"))
	return n
}

// Embeds reports whether the model is an embedding model, and whether it then needs a
// whole input in one batch.
func (f *File) Embeds() (embedsOnly, wholeInput bool) {
	embedsOnly = f.Pooling() != PoolingNone || !f.Causal()
	return embedsOnly, embedsOnly && (!f.Causal() || f.Pooling() != PoolingLast)
}
