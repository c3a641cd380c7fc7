package gguf

// Architecture is the family that llama.cpp builds the model by, such as
// "llama" or "qwen2".
func (f *File) Architecture() string { return f.String("general.architecture") }

// Context is how many tokens the model was trained to see; 0: the file does not
// say.
func (f *File) Context() int {
	n, _ := f.Int(f.Key("context_length"))
	return int(max(n, 0))
}

// Template is the source of the model's chat template; empty: it has none.
func (f *File) Template() string { return f.String("tokenizer.chat_template") }

// Parameters is how many numbers the tensors have together.
func (f *File) Parameters() int64 {
	sum := int64(0)
	for _, t := range f.Tensors {
		if sum += t.Elements; sum < 0 {
			return 0
		}
	}
	return sum
}

// IsProjector reports whether the file is what lets a model see images or hear,
// rather than a model.
func (f *File) IsProjector() bool {
	return f.Architecture() == "clip" || f.String("general.type") == "mmproj"
}

// SeesImages reports whether a projector is one for images.
func (f *File) SeesImages() bool {
	sees, _ := f.Bool("clip.has_vision_encoder")
	return sees
}

// IsAdapter reports whether the file is an adapter (LoRA) to another model.
func (f *File) IsAdapter() bool {
	return f.String("general.type") == "adapter" || f.String("adapter.type") != ""
}

// Part is the number of this file among the parts of its model, from 0, and
// how many there are: 0 of 1 for a model in one file.
func (f *File) Part() (number, of int) {
	count, ok := f.Int("split.count")
	if !ok || count <= 1 {
		return 0, 1
	}
	n, _ := f.Int("split.no")
	return int(n), int(count)
}

// Quantization is how the weights are stored, as the names of files say it:
// "Q4_K_M", "F16". Where the file has no number for it, or one that is not
// known, it is the type that most of the bytes have; empty for no tensors.
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

// fileTypes are the names of general.file_type. The numbers are llama.cpp's
// (llama_ftype), those that files of today have.
var fileTypes = map[int64]string{
	0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1",
	10: "Q2_K", 11: "Q3_K_S", 12: "Q3_K_M", 13: "Q3_K_L", 14: "Q4_K_S", 15: "Q4_K_M", 16: "Q5_K_S", 17: "Q5_K_M", 18: "Q6_K",
	19: "IQ2_XXS", 20: "IQ2_XS", 21: "Q2_K_S", 22: "IQ3_XS", 23: "IQ3_XXS", 24: "IQ1_S", 25: "IQ4_NL", 26: "IQ3_S",
	27: "IQ3_M", 28: "IQ2_S", 29: "IQ2_M", 30: "IQ4_XS", 31: "IQ1_M", 32: "BF16", 36: "TQ1_0", 37: "TQ2_0", 38: "MXFP4",
}

// Causal reports whether a token sees those before it alone, as in all models that
// write text.
func (f *File) Causal() bool {
	causal, ok := f.Bool(f.Key("attention.causal"))
	return causal || !ok
}

// The ways to make one vector of those of a text's tokens, by the numbers that
// files and llama.cpp have for them.
const (
	PoolingNone = 0
	PoolingMean = 1
	PoolingCLS  = 2 // that of the first token
	PoolingLast = 3 // that of the last token
	PoolingRank = 4 // a score of how well a text answers another
)

// Pooling is how the model makes one vector of a text; PoolingNone where the
// file does not say.
func (f *File) Pooling() int64 {
	n, _ := f.Int(f.Key("pooling_type"))
	return n
}

// Embeds reports whether the model makes vectors and nothing else, and then
// whether it must read a text at once, rather than in pieces.
func (f *File) Embeds() (only, whole bool) {
	only = f.Pooling() != PoolingNone || !f.Causal()
	return only, only && (!f.Causal() || f.Pooling() != PoolingLast)
}
