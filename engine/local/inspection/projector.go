package inspection

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/diglot/diglot/engine/gguf"
)

//go:embed projectors.txt
var projectorsText string

// Projector is [Model] for a projector (mmproj).
func Projector(file *gguf.File) error {
	layouts, err := projectorLayouts(file)
	if err != nil {
		return err
	}
	for _, l := range layouts {
		if err := l.checkParts(); err != nil {
			return err
		}
		for name := range l.tensors {
			if !l.known[name] && looked(name, l.prefix) {
				return l.stranger(name)
			}
		}
	}
	return nil
}

// blind are architectures that cannot take image embeddings.
var blind = map[string]string{
	"gemma3n": "llama.cpp ends at anything but tokens",
}

// Pair checks that a projector fits a model. Both are valid by themselves.
func Pair(model, projector *gguf.File) error {
	layouts, err := projectorLayouts(projector)
	if err != nil {
		return err
	}
	name, sees := model.Architecture(), layouts[0]
	width, taken := sees.width(), taken(model)
	switch placed := places(model); {
	case blind[name] != "":
		return fmt.Errorf("models of the architecture %s do not take pictures: %s", name, blind[name])
	case sees.arch.flags["grid"] && !placed:
		return fmt.Errorf("%s place parts of a picture in rows and columns, which this model of the architecture %s does not: the projector is for another one", sees.what, name)
	case placed && !sees.arch.flags["grid"]:
		return fmt.Errorf("this model of the architecture %s places parts of a picture in rows and columns, which %s do not: the projector is for another one", name, sees.what)
	case width != taken:
		return fmt.Errorf("the projector makes %d numbers of each part of a picture; the model, where %s is %d, takes %d",
			width, model.Key("embedding_length"), number(model, model.Key("embedding_length"), 0), taken)
	}
	return nil
}

// places reports whether the model uses M-RoPE.
func places(model *gguf.File) bool {
	name := model.Architecture()
	if slices.Contains(sectioned, name) {
		return true
	}
	sections := append(model.Ints(model.Key("rope.dimension_sections")), 0, 0)
	return (name == "glm4" || name == "glm4moe") && sections[0] > 0 && sections[1] > 0
}

// taken is the length of an input embedding, with deepstack.
func taken(model *gguf.File) int64 {
	width := number(model, model.Key("embedding_length"), 0)
	if name := model.Architecture(); name != "qwen3vl" && name != "qwen3vlmoe" {
		return width
	}
	return width * (1 + number(model, model.Key("n_deepstack_layers"), 0))
}

// width is the length of the projector's embeddings.
func (l *layout) width() int64 {
	parts := int64(1)
	for layer := range l.layers {
		if l.dim(layer, "v.deepstack.#.fc1", 0) > 0 {
			parts++
		}
	}
	return parts * l.arch.lets["width"].in(l.scope(0))
}

// looked reports whether llama.cpp looks for a tensor in projectors of all types.
// Those that some types have no use for change what it computes, or end it.
func looked(name, prefix string) bool {
	if name == "v.class_embd" {
		return prefix == "v.blk."
	}
	for _, other := range []string{"pre_ln", "post_ln", "patch_embd", "norm_embd", "position_embd"} {
		if strings.HasPrefix(name, strings.TrimSuffix(prefix, "blk.")+other+".") {
			return true
		}
	}
	return strings.HasPrefix(name, prefix)
}

// projectorLayouts are of the part that sees and, where there is one, of the one
// that hears, of a file with keys that are right by themselves.
func projectorLayouts(file *gguf.File) ([]*layout, error) {
	if !file.IsProjector() || !file.SeesImages() {
		return nil, fmt.Errorf("the file is not a projector for images: general.architecture is %.40q and clip.has_vision_encoder is %v; they must be \"clip\" and true",
			file.Architecture(), file.SeesImages())
	}
	if err := checkKeys(file, "projector", 0); err != nil {
		return nil, err
	}
	sees, err := partLayout(file, "vision")
	if err != nil {
		return nil, err
	}
	all := []*layout{sees}
	if hears, _ := file.Bool("clip.has_audio_encoder"); hears {
		part, err := partLayout(file, "audio")
		if err != nil {
			return nil, err
		}
		all = append(all, part)
	}
	return all, checkPictures(file)
}

// partLayout is that of one part: "vision" or "audio".
func partLayout(file *gguf.File, part string) (*layout, error) {
	if err := checkKeys(file, part, 0); err != nil {
		return nil, err
	}
	key, kind := projectorType(file, part)
	table, err := parseTable(excerpt(projectorsText, kind))
	if err != nil {
		return nil, err
	}
	arch := table[kind]
	if arch == nil || arch.flags["hears"] != (part == "audio") {
		return nil, fmt.Errorf("%s is %.40q, which is no type of projectors for %s that this program knows", key, kind, part)
	}
	l := &layout{
		arch:    arch,
		what:    fmt.Sprintf("projectors of the type %s", kind),
		prefix:  map[string]string{"vision": "v.blk.", "audio": "a.blk."}[part],
		tensors: tensorsOf(file),
		known:   map[string]bool{},
		numbers: func(int) map[string]int64 { return projectorNumbers(file, part) },
		key:     func(number string) string { return strings.TrimPrefix(partVariables(part)[number], "clip.") },
		there: func(key string) (string, bool) {
			key = "clip." + part + "." + key
			_, ok := file.Kind(key)
			return key, ok
		},
	}
	n := l.numbers(0)
	l.layers = int(n["layers"])
	if n["embd"]%n["heads"] != 0 {
		return nil, fmt.Errorf("clip.%s.attention.head_count is %d; it must divide clip.%s.embedding_length, which is %d", part, n["heads"], part, n["embd"])
	}
	return l, nil
}

// projectorType is that of one part, and the key that says it.
func projectorType(file *gguf.File, part string) (key, kind string) {
	key = "clip.projector_type"
	if kind = file.String(key); kind == "" {
		key = "clip." + part + ".projector_type"
		kind = file.String(key)
	}
	switch {
	case kind == "" && part == "vision":
		kind = "mlp"
	case kind == "qwen2.5o" && part == "vision":
		kind = "qwen2.5vl_merger"
	case kind == "qwen2.5o":
		kind = "qwen2a"
	}
	return key, kind
}

// checkPictures looks at what is done to a picture before it is seen.
func checkPictures(file *gguf.File) error {
	n := projectorNumbers(file, "vision")
	key := func(name string) string { return "clip.vision." + name }
	gelu, _ := file.Bool("clip.use_gelu")
	silu, _ := file.Bool("clip.use_silu")
	switch {
	case gelu && silu:
		return errors.New("clip.use_gelu and clip.use_silu are both true; one at most may be")
	case n["grid"] == 0 || n["grid"] > maxGrid:
		return fmt.Errorf("%s is %d and %s is %d; there must be from 1 to %d patches in a row", key("image_size"), n["image"], key("patch_size"), n["patch"], maxGrid)
	case n["patch"]*max(n["scale"], n["spatial"]) > maxMerged:
		return fmt.Errorf("%s is %d; cells of %d patches in a row must have at most %d pixels in a row", key("patch_size"), n["patch"], max(n["scale"], n["spatial"]), maxMerged)
	}
	for _, name := range []string{key("image_mean"), key("image_std")} {
		if file.Len(name) < 3 {
			return fmt.Errorf("%s has %d values; there must be one for each of 3 colours", name, file.Len(name))
		}
	}
	points := file.Ints(key("image_grid_pinpoints"))
	if len(points)%2 != 0 {
		return fmt.Errorf("%s has %d values; they must be pairs", key("image_grid_pinpoints"), len(points))
	}
	for _, side := range points {
		if side%n["image"] != 0 || side > 16*n["image"] {
			return fmt.Errorf("%s has %d; sides must be from 1 to 16 times %s, which is %d", key("image_grid_pinpoints"), side, key("image_size"), n["image"])
		}
	}
	for _, layer := range file.Ints(key("feature_layer")) {
		if layer > n["layers"] {
			return fmt.Errorf("%s has %d; there are %d layers", key("feature_layer"), layer, n["layers"])
		}
	}
	return nil
}
