package inspectiontest

import (
	"bytes"
	"encoding/binary"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/diglot/diglot/engine/gguf"
	"github.com/diglot/diglot/engine/local/inspection"
)

// Recipe is what a model is made by.
type Recipe struct {
	Name         string // of the recipe, for messages
	Architecture string
	Projector    string         // a type: it makes a projector in place of a model
	Meta         map[string]any // keys beside the usual ones, or in place of them; nil leaves one out
	Tokenizer    string         // of a vocabulary that this package has; empty: gpt2

	// Optional says which tensors that need not be there are; nil: none.
	Optional func(name string) bool
}

// Usual are the values of keys, without the architecture.
func usual() map[string]any {
	return map[string]any{
		"context_length": uint32(256), "embedding_length": uint32(64), "block_count": uint32(2), "feed_forward_length": uint32(96),
		"attention.head_count": uint32(4), "attention.head_count_kv": uint32(2),
		"attention.layer_norm_epsilon": float32(1e-5), "attention.layer_norm_rms_epsilon": float32(1e-5),
	}
}

// Model makes the file, with weights chosen by the seed.
func Model(r Recipe, seed uint64) (*gguf.Draft, error) {
	meta := usualProjector(r.Projector)
	if r.Projector == "" {
		meta = usualModel(r)
	}
	for key, value := range r.Meta {
		if value == nil {
			delete(meta, key)
			continue
		}
		meta[key] = value
	}
	file, err := head(meta)
	if err != nil {
		return nil, err
	}
	optional := r.Optional
	if optional == nil {
		optional = func(string) bool { return false }
	}
	list := inspection.Tensors
	if r.Projector != "" {
		list = inspection.ProjectorTensors
	}
	wanted, err := list(file, optional)
	if err != nil {
		return nil, err
	}
	return &gguf.Draft{Keys: keysOf(meta), Tensors: tensors(wanted, optional, rand.New(rand.NewPCG(seed, 0)))}, nil
}

func usualModel(r Recipe) map[string]any {
	meta := map[string]any{"general.architecture": r.Architecture, "general.name": "small"}
	for key, value := range usual() {
		meta[r.Architecture+"."+key] = value
	}
	kind := r.Tokenizer
	if kind == "" {
		kind = "gpt2"
	}
	maps.Copy(meta, Vocabulary(kind))
	return meta
}

// head is what is read of a file without tensors.
func head(meta map[string]any) (*gguf.File, error) {
	content := (&gguf.Draft{Keys: keysOf(meta)}).Bytes()
	return gguf.Read(bytes.NewReader(content), int64(len(content)))
}

// tensors are those of a model, with random numbers.
func tensors(wanted []inspection.Wanted, optional func(string) bool, random *rand.Rand) []gguf.Weight {
	var all []gguf.Weight
	known := map[string]bool{}
	for _, w := range wanted {
		if w.Optional && (!optional(w.Name) || slices.Contains(w.Dims, 0)) || known[w.Name] {
			continue
		}
		known[w.Name] = true
		t := gguf.Weight{Name: w.Name, Type: gguf.F32}
		count := int64(1)
		for _, n := range w.Dims {
			t.Dims = append(t.Dims, uint64(n))
			count *= n
		}
		if slices.Contains(w.Types, "F16") {
			t.Type = gguf.F16
		}
		t.Data = Numbers(t.Type, int(count), random)
		all = append(all, t)
	}
	return all
}

// Numbers are random ones, from -1/8 to 1/8.
func Numbers(t gguf.Type, count int, random *rand.Rand) []byte {
	data := make([]byte, 0, 4*max(count, 0))
	for range count {
		n := (float32(random.Uint32()>>8)/(1<<24) - 0.5) / 4
		bits := math.Float32bits(n)
		if t == gguf.F32 {
			data = binary.LittleEndian.AppendUint32(data, bits)
			continue
		}
		// The exponent of a half has 5 bits, and begins 112 lower. What is too
		// small for that is nothing.
		half := uint32(0)
		if exponent := bits >> 23 & 0xff; exponent > 112 {
			half = bits>>16&0x8000 | (exponent-112)<<10 | bits>>13&0x3ff
		}
		data = binary.LittleEndian.AppendUint16(data, uint16(half))
	}
	return data
}

// keysOf are the metadata with values of the types that are listed here, in the
// order of their names.
func keysOf(meta map[string]any) []gguf.Key {
	var keys []gguf.Key
	for _, name := range slices.Sorted(maps.Keys(meta)) {
		keys = append(keys, gguf.KeyOf(name, meta[name]))
	}
	return keys
}
