package inspectiontest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/diglot/diglot/engine/gguf"
	"github.com/diglot/diglot/engine/inspection"
)

// Recipe is what a model is made by.
type Recipe struct {
	Name         string // of the recipe, for messages
	Architecture string
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
func Model(r Recipe, seed uint64) (*Parts, error) {
	meta := map[string]any{"general.architecture": r.Architecture, "general.name": "small"}
	for key, value := range usual() {
		meta[r.Architecture+"."+key] = value
	}
	kind := r.Tokenizer
	if kind == "" {
		kind = "gpt2"
	}
	maps.Copy(meta, Vocabulary(kind))
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
	wanted, err := inspection.Tensors(file, optional)
	if err != nil {
		return nil, err
	}
	return &Parts{keysOf(meta), tensors(wanted, optional, rand.New(rand.NewPCG(seed, 0)))}, nil
}

// head is what is read of a file without tensors.
func head(meta map[string]any) (*gguf.File, error) {
	content := (&Parts{Keys: keysOf(meta)}).Bytes()
	return gguf.Read(bytes.NewReader(content), int64(len(content)))
}

// tensors are those of a model, with random numbers.
func tensors(wanted []inspection.Wanted, optional func(string) bool, random *rand.Rand) []Tensor {
	var all []Tensor
	known := map[string]bool{}
	for _, w := range wanted {
		if w.Optional && (!optional(w.Name) || slices.Contains(w.Dims, 0)) || known[w.Name] {
			continue
		}
		known[w.Name] = true
		t := Tensor{Name: w.Name, Type: gguf.F32}
		count := int64(1)
		for _, n := range w.Dims {
			t.Dims = append(t.Dims, uint64(n))
			count *= n
		}
		t.Data = make([]byte, 0, 4*max(count, 0))
		for range count {
			n := float32(random.Uint32()>>8)/(1<<24) - 0.5
			t.Data = binary.LittleEndian.AppendUint32(t.Data, math.Float32bits(n/4))
		}
		all = append(all, t)
	}
	return all
}

// keysOf are the metadata with values of the types that are listed here, in the
// order of their names.
func keysOf(meta map[string]any) []Key {
	var keys []Key
	for _, name := range slices.Sorted(maps.Keys(meta)) {
		keys = append(keys, KeyOf(name, meta[name]))
	}
	return keys
}

// KeyOf makes one of the metadata.
func KeyOf(name string, value any) Key {
	switch v := value.(type) {
	case string:
		return Key{Name: name, Type: gguf.String, Text: v}
	case bool:
		return Key{Name: name, Type: gguf.Bool, Bits: map[bool]uint64{true: 1}[v]}
	case uint16:
		return Key{Name: name, Type: gguf.Uint16, Bits: uint64(v)}
	case uint32:
		return Key{Name: name, Type: gguf.Uint32, Bits: uint64(v)}
	case int32:
		return Key{Name: name, Type: gguf.Int32, Bits: uint64(uint32(v))}
	case float32:
		return Key{Name: name, Type: gguf.Float32, Bits: uint64(math.Float32bits(v))}
	case []string:
		return Key{Name: name, Type: gguf.ArrayOf, Array: Array{Type: gguf.String, Texts: v}}
	case []uint32:
		return arrayKey(name, gguf.Uint32, v, func(n uint32) uint64 { return uint64(n) })
	case []int32:
		return arrayKey(name, gguf.Int32, v, func(n int32) uint64 { return uint64(uint32(n)) })
	case []byte:
		return arrayKey(name, gguf.Uint8, v, func(n byte) uint64 { return uint64(n) })
	case []float32:
		return arrayKey(name, gguf.Float32, v, func(n float32) uint64 { return uint64(math.Float32bits(n)) })
	}
	panic(fmt.Sprintf("no type for %T", value)) // a mistake in a test
}

func arrayKey[T any](name string, kind gguf.ValueType, values []T, bits func(T) uint64) Key {
	k := Key{Name: name, Type: gguf.ArrayOf, Array: Array{Type: kind}}
	for _, v := range values {
		k.Array.Bits = append(k.Array.Bits, bits(v))
	}
	return k
}
