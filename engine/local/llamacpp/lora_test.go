//go:build llamacpp && cgo

package llamacpp

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/diglot/diglot/engine/gguf"
	"github.com/diglot/diglot/engine/local/inspection/inspectiontest"
)

// loraFor makes an adapter (LoRA) that changes all matrices of a model that it can.
func loraFor(model *gguf.Draft, seed uint64) *gguf.Draft {
	random := rand.New(rand.NewPCG(seed, 0))
	a := &gguf.Draft{Keys: []gguf.Key{gguf.KeyOf("general.type", "adapter"), gguf.KeyOf("adapter.type", "lora"), gguf.KeyOf("adapter.lora.alpha", float32(8))}}
	for _, k := range model.Keys {
		if k.Name == "general.architecture" {
			a.Keys = append(a.Keys, k)
		}
	}
	const rank = 4
	add := func(name string, dims ...uint64) {
		a.Tensors = append(a.Tensors, gguf.Weight{Name: name, Type: gguf.F32, Dims: dims, Data: inspectiontest.Numbers(gguf.F32, int(dims[0]*dims[1]), random)})
	}
	writes := slices.ContainsFunc(model.Tensors, func(t gguf.Weight) bool { return t.Name == "output.weight" })
	for _, t := range model.Tensors {
		switch {
		case len(t.Dims) != 2 || strings.Contains(t.Name, "norm"):
		case t.Name == "token_embd.weight" && !writes:
		case strings.HasSuffix(t.Name, "token_embd.weight"): // this one is turned
			add(t.Name+".lora_a", rank, t.Dims[1])
			add(t.Name+".lora_b", rank, t.Dims[0])
		default:
			add(t.Name+".lora_a", t.Dims[0], rank)
			add(t.Name+".lora_b", rank, t.Dims[1])
		}
	}
	return a
}
