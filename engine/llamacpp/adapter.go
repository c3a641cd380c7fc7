package llamacpp

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/diglot/diglot/engine/gguf"
)

// An adapter (LoRA) is a small file that changes a model: for some of the
// model's tensors it has two thin ones, whose product is added. llama.cpp
// checks part of what an adapter must be, and for the rest ends the process;
// what would do that is refused here.

// CheckAdapter says why a model cannot take an adapter, as far as the heads of
// the two files tell. It works in every build.
func CheckAdapter(model, adapter string) error {
	file, err := gguf.Open(model)
	if err != nil {
		return fmt.Errorf("%s: %w", model, err)
	}
	return checkAdapters([]string{adapter}, file)
}

// checkAdapters looks at the heads of all adapters of a model.
func checkAdapters(paths []string, model *gguf.File) error {
	tensors := make(map[string]gguf.Tensor, len(model.Tensors))
	for _, t := range model.Tensors {
		tensors[t.Name] = t
	}
	pairs := 0
	for _, path := range paths {
		file, err := gguf.Open(path)
		if err != nil {
			return fmt.Errorf("adapter %s: %w", path, err)
		}
		n, err := checkAdapter(file, model.Architecture(), tensors)
		if err != nil {
			return fmt.Errorf("adapter %s: %w", path, err)
		}
		pairs += n
	}
	// llama.cpp makes room for the steps of a computation by the number of the
	// model's tensors, and ends the process where the steps of the adapters,
	// four for each pair, do not fit in beside the model's own.
	if pairs > len(model.Tensors) {
		return fmt.Errorf("the adapters change %d tensors together, more than llama.cpp has room for beside this model: %d",
			pairs, len(model.Tensors))
	}
	return nil
}

// loraTypes are the types of tensors in adapters that can be multiplied with
// anything.
var loraTypes = []string{"F32", "F16", "BF16", "Q8_0"}

// loraEnds are what the names of a pair end with.
const (
	loraA = ".lora_a"
	loraB = ".lora_b"
)

// checkAdapter returns how many tensors of the model the adapter changes.
func checkAdapter(file *gguf.File, architecture string, model map[string]gguf.Tensor) (pairs int, err error) {
	switch kind := file.String("adapter.type"); {
	case file.String("general.type") != "adapter":
		return 0, errors.New("the file is not an adapter")
	case kind != "lora":
		return 0, fmt.Errorf("the file is an adapter of the type %q; only lora can be used", kind)
	case file.Architecture() != architecture:
		return 0, fmt.Errorf("the adapter is for models of the architecture %q, and this model is %q", file.Architecture(), architecture)
	case file.Len("adapter.alora.invocation_tokens") > 0:
		return 0, errors.New("the adapter is one that certain words turn on and off, which is not supported")
	}
	second := map[string]gguf.Tensor{}
	for _, t := range file.Tensors {
		second[t.Name] = t
	}
	for _, a := range file.Tensors {
		name, ok := strings.CutSuffix(a.Name, loraA)
		if !ok {
			other, isB := strings.CutSuffix(a.Name, loraB)
			_, hasA := second[other+loraA]
			if !strings.HasSuffix(a.Name, "_norm.weight") && (!isB || !hasA) { // llama.cpp leaves norms out
				return 0, fmt.Errorf("the tensor %s is not one of a pair", a.Name)
			}
			continue
		}
		b, ok := second[name+loraB]
		if !ok {
			return 0, fmt.Errorf("the tensor %s is not one of a pair", a.Name)
		}
		base, ok := model[name]
		if !ok {
			return 0, fmt.Errorf("the model has no tensor %s: the adapter is for another one", name)
		}
		if err := checkPair(a, b, base); err != nil {
			return 0, err
		}
		pairs++
	}
	if pairs == 0 {
		return 0, errors.New("the adapter changes nothing")
	}
	return pairs, nil
}

// checkPair wants the product of a and b to have the shape of base.
func checkPair(a, b, base gguf.Tensor) error {
	for _, t := range []gguf.Tensor{a, b} {
		if !slices.Contains(loraTypes, t.Type.String()) {
			return fmt.Errorf("the tensor %s is stored as %s; adapters may have %s", t.Name, t.Type, strings.Join(loraTypes, ", "))
		}
	}
	in, rank, out := dim(a, 0), dim(a, 1), dim(b, 1)
	wide, high, inner := dim(base, 0), dim(base, 1), dim(b, 0)
	if strings.HasSuffix(base.Name, "token_embd.weight") {
		// This one is looked up rather than multiplied, and its pair is turned.
		in, out, wide, high = dim(b, 1), dim(a, 1), dim(base, 0), dim(base, 1)
		rank = dim(a, 0)
	}
	if in != wide || out != high || rank != inner || dim(a, 2) != dim(base, 2) || dim(b, 2) != dim(base, 2) || dim(a, 3)*dim(b, 3)*dim(base, 3) != 1 {
		return fmt.Errorf("the tensors %s %v and %s %v do not fit %s %v of the model: the adapter is for another one",
			a.Name, a.Dims, b.Name, b.Dims, base.Name, base.Dims)
	}
	return nil
}

// dim is the size of a tensor along a dimension; those that are not named are 1.
func dim(t gguf.Tensor, i int) int64 {
	if i < len(t.Dims) {
		return t.Dims[i]
	}
	return 1
}
