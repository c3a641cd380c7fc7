package inspection

import (
	"errors"
	"fmt"
	"slices"

	"github.com/diglot/diglot/engine/gguf"
)

// unsupported are architectures that llama.cpp knows but that are not supported here.
var unsupported = map[string]string{
	"clip":             "the file is a projector, which belongs to a model",
	"gptj":             "llama.cpp has no code for it any more",
	"t5":               "it reads and writes in two parts",
	"t5encoder":        "it is one half of a model that reads and writes in two parts",
	"dream":            "it writes all words at once, by diffusion",
	"llada":            "it writes all words at once, by diffusion",
	"llada-moe":        "it writes all words at once, by diffusion",
	"rnd1":             "it writes all words at once, by diffusion",
	"wavtokenizer-dec": "it makes sound",
	"chameleon":        "llama.cpp ends where a text is read in pieces",
	"plm":              "llama.cpp ends at its first text",
	"lfm2":             "llama.cpp looks for a tensor by a name that no file has",
}

// Model checks a model's header. Errors name the key or tensor, its value and what is
// expected. path is the file, or its first part, of the header.
func Model(path string, file *gguf.File) error {
	arch, err := known(file)
	if err != nil {
		return err
	}
	layers, _ := file.Int(file.Key("block_count"))
	if err := checkKeys(file, "model", layers); err != nil {
		return err
	}
	if err := checkVocabulary(path, file); err != nil {
		return err
	}
	if err := checkAttention(file, arch); err != nil {
		return err
	}
	if err := checkExperts(file); err != nil {
		return err
	}
	if err := checkPositions(file, arch); err != nil {
		return err
	}
	if err := checkUse(file, arch); err != nil {
		return err
	}
	return modelLayout(file, arch).check()
}

func known(file *gguf.File) (*architecture, error) {
	name := file.Architecture()
	switch {
	case file.IsProjector():
		return nil, errors.New("the file is a projector, and no model")
	case file.IsAdapter():
		return nil, errors.New("the file is an adapter, and no model")
	case name == "":
		return nil, errors.New("general.architecture is missing: it says how the model is built")
	case unsupported[name] != "":
		return nil, fmt.Errorf("models of the architecture %s cannot be run here: %s", name, unsupported[name])
	}
	arch, err := architectureOf(name)
	if err == nil && arch == nil {
		err = fmt.Errorf("general.architecture is %.40q, which the llama.cpp of this program does not know", name)
	}
	return arch, err
}

// checkAttention checks the numbers of heads.
func checkAttention(file *gguf.File, arch *architecture) error {
	layers, _ := file.Int(file.Key("block_count"))
	headKey, kvKey := file.Key("attention.head_count"), file.Key("attention.head_count_kv")
	for layer := range int(layers) {
		n := numbers(file, layer)
		switch {
		case n["kv"] > 0 && n["heads"]%n["kv"] != 0:
			return fmt.Errorf("%s is %d in layer %d; it must divide %s, which is %d", kvKey, n["kv"], layer, headKey, n["heads"])
		case arch.flags["vary"]:
			continue
		case arch.flags["still"] && n["heads"]+n["kv"] > 0:
			return fmt.Errorf("%s is %d; models of the architecture %s have no heads", headKey, n["heads"], file.Architecture())
		case !arch.flags["still"] && (n["heads"] == 0 || n["kv"] == 0):
			return fmt.Errorf("%s and %s are %d and %d in layer %d; there must be at least one", headKey, kvKey, n["heads"], n["kv"], layer)
		}
	}
	if arch.flags["vary"] {
		return nil
	}
	for _, name := range []string{"attention.head_count", "attention.head_count_kv", "feed_forward_length"} {
		values := file.Ints(file.Key(name))
		if len(values) > 0 && slices.Min(values) != slices.Max(values) {
			return fmt.Errorf("%s is %v; in models of the architecture %s it is the same in all layers", file.Key(name), values, file.Architecture())
		}
	}
	return nil
}

// checkExperts checks the numbers of experts.
func checkExperts(file *gguf.File) error {
	get := func(name string) int64 {
		n, _ := file.Int(file.Key(name))
		return n
	}
	experts, used, groups, groupsUsed := get("expert_count"), get("expert_used_count"), get("expert_group_count"), get("expert_group_used_count")
	key := file.Key
	switch {
	case experts == 0 && (used > 0 || groups > 0):
		return fmt.Errorf("%s is %d and %s is %d; without %s they must be 0", key("expert_used_count"), used, key("expert_group_count"), groups, key("expert_count"))
	case experts > 0 && (used == 0 || used > experts):
		return fmt.Errorf("%s is %d; it must be from 1 to %s, which is %d", key("expert_used_count"), used, key("expert_count"), experts)
	case groups > 1 && (experts%groups != 0 || experts/groups < 2):
		return fmt.Errorf("%s is %d; it must divide %s, which is %d, into groups of at least 2", key("expert_group_count"), groups, key("expert_count"), experts)
	case groups > 1 && (groupsUsed == 0 || groupsUsed >= groups):
		return fmt.Errorf("%s is %d; it must be from 1 to %d, less than %s", key("expert_group_used_count"), groupsUsed, groups-1, key("expert_group_count"))
	case groups > 1 && groupsUsed*(experts/groups) < used:
		return fmt.Errorf("%s is %d; the %d groups that are asked have %d", key("expert_used_count"), used, groupsUsed, groupsUsed*(experts/groups))
	case groups == 1 && experts == 1:
		return fmt.Errorf("%s is 1; it must be less than %s", key("expert_group_count"), key("expert_count"))
	}
	return nil
}

// checkPositions checks RoPE.
func checkPositions(file *gguf.File, arch *architecture) error {
	n := numbers(file, 0)
	rotated, lengthKey := file.Key("rope.dimension_count"), file.Key("attention.key_length")
	switch {
	case arch.flags["still"]:
		return nil
	case n["rot"]%2 != 0 || n["rot"] > n["key"]:
		return fmt.Errorf("%s is %d; it must be even, and at most the length of a key, which is %d", rotated, n["rot"], n["key"])
	case arch.flags["rot"] && n["rot"] != n["key"]:
		return fmt.Errorf("%s is %d; in models of the architecture %s it is the length of a key, which is %d", rotated, n["rot"], file.Architecture(), n["key"])
	case !arch.flags["split"] && n["key"] != n["val"]:
		return fmt.Errorf("%s is %d; it must be the same as %s, which is %d", lengthKey, n["key"], file.Key("attention.value_length"), n["val"])
	}
	return checkSections(file, n["key"])
}

// sectioned are architectures with M-RoPE.
var sectioned = []string{"qwen2vl", "qwen3vl", "qwen3vlmoe"}

func checkSections(file *gguf.File, length int64) error {
	key := file.Key("rope.dimension_sections")
	sections := file.Ints(key)
	if n, ok := file.Int(key); ok {
		sections = []int64{n, n, n, n}
	}
	if sections == nil {
		if slices.Contains(sectioned, file.Architecture()) {
			return fmt.Errorf("%s is missing; models of the architecture %s have it", key, file.Architecture())
		}
		return nil
	}
	sum := int64(0)
	for _, n := range sections {
		sum += n
	}
	needed := slices.Contains(sectioned, file.Architecture())
	if sum > length || needed && sum == sections[3] {
		return fmt.Errorf("%s is %v; they must be at most %d together, and not all of the first three 0", key, sections, length)
	}
	return nil
}

// checkUse checks causality, pooling and temperature scaling.
func checkUse(file *gguf.File, arch *architecture) error {
	if err := checkSkips(file); err != nil {
		return err
	}
	causal := file.Key("attention.causal")
	warmth, length := file.Key("attention.temperature_scale"), file.Key("attention.temperature_length")
	if scale, ok := file.Float(warmth); ok && scale != 0 && file.Architecture() == "deepseek2" {
		if n, _ := file.Int(length); n == 0 {
			return fmt.Errorf("%s is 0; it must be above 0, since %s is %s", length, warmth, written(scale))
		}
	}
	if !arch.flags["encoder"] {
		return nil
	}
	if v, ok := file.Bool(causal); ok && v {
		return fmt.Errorf("%s is true; models of the architecture %s see a whole text", causal, file.Architecture())
	}
	if p := file.Pooling(); p != gguf.PoolingMean && p != gguf.PoolingCLS && p != gguf.PoolingLast {
		return fmt.Errorf("%s is %d; to make vectors it must be %d (the mean), %d (the first token) or %d (the last)",
			file.Key("pooling_type"), p, gguf.PoolingMean, gguf.PoolingCLS, gguf.PoolingLast)
	}
	return nil
}

// checkSkips checks skip connections: llama.cpp reads uninitialized memory if no earlier
// layer is marked as their source.
func checkSkips(file *gguf.File) error {
	if file.Architecture() != "solar" {
		return nil
	}
	layers, _ := file.Int(file.Key("block_count"))
	for kept := range 2 {
		from := file.Key(fmt.Sprintf("attention.block_skip_connection.%d", kept))
		to := file.Key(fmt.Sprintf("attention.block_skip_connection.%d", kept+2))
		for layer := range int(layers) {
			if number(file, from, layer) > 0 {
				break
			}
			if number(file, to, layer) > 0 {
				return fmt.Errorf("%s marks layer %d, and %s none up to it; it must mark one", to, layer, from)
			}
		}
	}
	return nil
}
