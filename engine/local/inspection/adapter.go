package inspection

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/diglot/diglot/engine/gguf"
)

// Adapter checks that an adapter (LoRA) fits a model. llama.cpp checks only a part of
// this.
func Adapter(model, adapter *gguf.File) error {
	return checkAdapter(adapter, model.Architecture(), tensorsOf(model))
}

// Adapters checks that a model can use all adapters together.
func Adapters(model *gguf.File, adapters []*gguf.File) error {
	pairs := 0
	for _, file := range adapters {
		for _, t := range file.Tensors {
			if strings.HasSuffix(t.Name, loraA) {
				pairs++
			}
		}
	}
	// llama.cpp limits the nodes of a compute graph by the number of the model's
	// tensors, and aborts if those of the adapters, four per pair, do not fit.
	if pairs > len(model.Tensors) {
		return fmt.Errorf("the adapters change %d tensors together, more than llama.cpp has room for beside this model: %d",
			pairs, len(model.Tensors))
	}
	return nil
}

// loraTypes are the supported tensor types.
var loraTypes = []string{"F32", "F16", "BF16", "Q8_0"}

// tokenTable is the token embedding.
const tokenTable = "token_embd.weight"

// Suffixes of a pair.
const (
	loraA = ".lora_a"
	loraB = ".lora_b"
)

func checkAdapter(file *gguf.File, architecture string, model map[string]gguf.Tensor) error {
	switch kind := file.String("adapter.type"); {
	case file.String("general.type") != "adapter":
		return errors.New("the file is not an adapter")
	case kind != "lora":
		return fmt.Errorf("the file is an adapter of the type %q; only lora can be used", kind)
	case file.Architecture() != architecture:
		return fmt.Errorf("the adapter is for models of the architecture %q, and this model is %q", file.Architecture(), architecture)
	case file.Len("adapter.alora.invocation_tokens") > 0:
		return errors.New("the adapter is one that certain words turn on and off, which is not supported")
	}
	alpha := key{name: "adapter.lora.alpha", kind: gguf.Float32, what: "the strength", min: -large, max: large}
	if err := alpha.check(file, 0); err != nil {
		return err
	}
	second, pairs := tensorsOf(file), 0
	for _, a := range file.Tensors {
		name, ok := strings.CutSuffix(a.Name, loraA)
		if !ok {
			other, isB := strings.CutSuffix(a.Name, loraB)
			_, hasA := second[other+loraA]
			if !strings.HasSuffix(a.Name, "_norm.weight") && (!isB || !hasA) { // llama.cpp leaves norms out
				return fmt.Errorf("the tensor %s is not one of a pair", a.Name)
			}
			continue
		}
		b, ok := second[name+loraB]
		if !ok {
			return fmt.Errorf("the tensor %s is not one of a pair", a.Name)
		}
		base, ok := model[name]
		if !ok {
			return fmt.Errorf("the model has no tensor %s: the adapter is for another one", name)
		}
		if err := checkPair(a, b, base); err != nil {
			return err
		}
		if _, ok := model["output.weight"]; name == tokenTable && !ok {
			return fmt.Errorf("the adapter changes %s, with which this model both reads and writes; llama.cpp can change one that has output.weight too", name)
		}
		pairs++
	}
	if pairs == 0 {
		return errors.New("the adapter changes nothing")
	}
	return nil
}

// checkPair checks that the product of a and b has the shape of base.
func checkPair(a, b, base gguf.Tensor) error {
	for _, t := range []gguf.Tensor{a, b} {
		if !slices.Contains(loraTypes, t.Type.String()) {
			return fmt.Errorf("the tensor %s is stored as %s; adapters may have %s", t.Name, t.Type, strings.Join(loraTypes, ", "))
		}
	}
	in, rank, out := a.Dim(0), a.Dim(1), b.Dim(1)
	wide, high, inner := base.Dim(0), base.Dim(1), b.Dim(0)
	if strings.HasSuffix(base.Name, tokenTable) {
		// The token embedding is looked up, and its pair transposed.
		in, out, wide, high = b.Dim(1), a.Dim(1), base.Dim(0), base.Dim(1)
		rank = a.Dim(0)
	}
	if in != wide || out != high || rank != inner || a.Dim(2) != base.Dim(2) || b.Dim(2) != base.Dim(2) || a.Dim(3)*b.Dim(3)*base.Dim(3) != 1 {
		return fmt.Errorf("the tensors %s %v and %s %v do not fit %s %v of the model: the adapter is for another one",
			a.Name, a.Dims, b.Name, b.Dims, base.Name, base.Dims)
	}
	return nil
}
