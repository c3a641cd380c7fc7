package inspection

import (
	"slices"

	"github.com/diglot/diglot/engine/gguf"
)

// Bounds of numbers of projectors that are made of others, above those of every
// one that there is.
const (
	maxGrid   = 128 // patches in a row
	maxMerged = 64  // pixels in a row of what becomes one cell
)

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
