package inspection

import (
	"slices"

	"github.com/diglot/diglot/engine/gguf"
)

// Bounds of numbers of projectors, above those of every one that there is.
const (
	maxSide   = 1 << 13 // pixels
	maxGrid   = 128     // patches in a row
	maxMerged = 64      // pixels in a row of what becomes one cell
	maxTower  = 128     // layers: llama.cpp has room for so many steps
)

// projectorKeys are those that llama.cpp reads of a projector; partKeys those of
// a part: "vision" or "audio".
func projectorKeys() []key {
	b, s := gguf.Bool, gguf.String
	return []key{
		{name: "general.name", kind: s, what: "the name"},
		{name: "general.description", kind: s, what: "the description"},
		{name: "clip.projector_type", kind: s, what: "how the projector is built"},
		{name: "clip.vision.projector_type", kind: s, what: "how the projector is built"},
		{name: "clip.audio.projector_type", kind: s, what: "how the projector is built"},
		{name: "clip.has_vision_encoder", kind: b, what: "whether it sees"},
		{name: "clip.has_audio_encoder", kind: b, what: "whether it hears"},
		{name: "clip.use_gelu", kind: b, what: "a function"},
		{name: "clip.use_silu", kind: b, what: "a function"},
		{name: "clip.minicpmv_version", kind: gguf.Int32, what: "a version", max: 6},
		{name: "clip.minicpmv_query_num", kind: gguf.Uint32, what: "the number of cells", max: 1 << 12},
	}
}

func partKeys(part string) []key {
	u, f := gguf.Uint32, gguf.Float32
	all := []key{
		{name: "embedding_length", kind: u, what: "how many numbers stand for a patch", min: 1, max: 1 << 16, must: true},
		{name: "feed_forward_length", kind: u, what: "the width of the second half of a layer", max: maxWidth, must: true},
		{name: "block_count", kind: u, what: "the number of layers", min: 1, max: maxTower, must: true},
		{name: "projection_dim", kind: u, what: "how many numbers the model takes", max: maxWidth, must: true},
		{name: "attention.head_count", kind: u, what: "the number of heads", min: 1, max: maxHeads, must: true},
		{name: "attention.layer_norm_epsilon", kind: f, what: "what keeps a norm from dividing by zero", min: tiny, max: 1, must: true},
	}
	if part == "audio" {
		all = append(all,
			key{name: "num_mel_bins", kind: u, what: "the number of tones", min: 1, max: 512, must: true},
			key{name: "projector.stack_factor", kind: u, what: "how many cells become one", max: 64},
		)
	} else {
		all = append(all,
			key{name: "image_size", kind: u, what: "the side of pictures in pixels", min: 1, max: maxSide, must: true},
			key{name: "preproc_image_size", kind: u, what: "the side of pictures in pixels", max: maxSide},
			key{name: "patch_size", kind: u, what: "the side of patches in pixels", min: 1, max: maxMerged, must: true},
			key{name: "image_crop_resolution", kind: u, what: "a side of pictures in pixels", max: maxSide},
			key{name: "mm_patch_merge_type", kind: gguf.String, what: "how patches are put together"},
			key{name: "image_grid_pinpoints", kind: gguf.Int32, what: "the sides of pictures in pixels", min: 1, max: 4 * maxSide, array: always},
			key{name: "feature_layer", kind: gguf.Int32, what: "the layers that are taken", max: maxTower, array: always},
			key{name: "image_mean", kind: f, what: "the mean of colours", min: -large, max: large, array: always, must: true},
			key{name: "image_std", kind: f, what: "how far colours are spread", min: small, max: large, array: always, must: true},
			key{name: "projector.scale_factor", kind: u, what: "how many patches in a row become one cell", min: 1, max: maxMerged},
			key{name: "spatial_merge_size", kind: u, what: "how many patches in a row become one cell", min: 1, max: maxMerged},
			key{name: "n_wa_pattern", kind: u, what: "how often a layer sees the whole picture", max: maxTower},
		)
	}
	for i := range all {
		all[i].name = "clip." + part + "." + all[i].name
	}
	return all
}

// partVariables are the numbers that expressions of projectors.txt name, with
// the keys that they are the values of.
func partVariables(part string) map[string]string {
	keys := map[string]string{
		"embd": "embedding_length", "ff": "feed_forward_length", "layers": "block_count", "proj": "projection_dim", "heads": "attention.head_count",
		"image": "image_size", "longest": "preproc_image_size", "patch": "patch_size", "scale": "projector.scale_factor", "spatial": "spatial_merge_size",
		"pattern": "n_wa_pattern", "points": "image_grid_pinpoints", "mel": "num_mel_bins", "stack": "projector.stack_factor",
	}
	for number, key := range keys {
		keys[number] = "clip." + part + "." + key
	}
	keys["version"], keys["queries"] = "clip.minicpmv_version", "clip.minicpmv_query_num"
	for _, made := range []string{"head", "grid", "patches", "features", "layer"} {
		keys[made] = ""
	}
	return keys
}

func projectorNumbers(file *gguf.File, part string) map[string]int64 {
	n := map[string]int64{}
	for name, key := range partVariables(part) {
		n[name], _ = file.Int(key)
	}
	if n["queries"] == 0 {
		n["queries"] = 96
		if n["version"] >= 3 {
			n["queries"] = 64
		}
	}
	n["points"] = int64(file.Len("clip." + part + ".image_grid_pinpoints"))
	n["head"] = n["embd"] / n["heads"]
	n["grid"] = n["image"] / max(n["patch"], 1)
	n["patches"] = n["grid"] * n["grid"]
	layers := slices.Sorted(slices.Values(file.Ints("clip." + part + ".feature_layer")))
	n["features"] = int64(len(slices.Compact(layers)))
	return n
}
