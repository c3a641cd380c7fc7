package inspectiontest

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/diglot/diglot/engine/local/inspection"
)

// projectorWidth is how many numbers most projectors of this package make of a
// part of a picture, and their models take.
const projectorWidth = 64

// Seeing is a model for projectors of a type.
func Seeing(kind string) Recipe {
	r := Recipe{Architecture: "llama", Tokenizer: "llama", Meta: map[string]any{}}
	sections := []int32{4, 2, 2, 0}
	switch kind {
	case "resampler":
		r.Meta["llama.embedding_length"] = uint32(2 * projectorWidth)
	case "qwen2vl_merger", "qwen2.5vl_merger":
		r.Architecture = "qwen2vl"
	case "qwen3vl_merger":
		r.Architecture = "qwen3vl"
		r.Meta["qwen3vl.n_deepstack_layers"] = uint32(1)
	case "glm4v":
		r.Architecture = "glm4"
	}
	r.Name = r.Architecture
	r.Meta[r.Architecture+".context_length"] = uint32(4096)
	if r.Architecture != "llama" {
		r.Meta[r.Architecture+".rope.dimension_sections"] = sections
	}
	return r
}

// Projectors are projectors of all types: each without the tensors that need not
// be there, with all, and with some; and some of the forms that a type has beside.
func Projectors(seed uint64) ([]Recipe, error) {
	types, err := inspection.ProjectorTypes()
	if err != nil {
		return nil, err
	}
	var all []Recipe
	for _, kind := range types {
		for form, meta := range projectorForms(kind) {
			r := Recipe{Name: strings.TrimSpace("projector " + kind + " " + form), Projector: kind, Meta: meta}
			none, every, some := r, r, r
			none.Name, none.Optional = r.Name+" with none", together(form, func(string) bool { return false })
			every.Name, every.Optional = r.Name+" with all", together(form, func(string) bool { return true })
			some.Name, some.Optional = r.Name+" with some", together(form, chosen(seed))
			all = append(all, none, every, some)
		}
	}
	slices.SortFunc(all, func(a, b Recipe) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// together keeps tensors together that belong together. Of the two layers of a
// projector with more than one output, one has the other output.
func together(form string, choose func(string) bool) func(string) bool {
	return func(tensor string) bool {
		if strings.HasPrefix(tensor, "v.deepstack.") && strings.Contains(tensor, ".fc") {
			return strings.HasPrefix(tensor, "v.deepstack.1.")
		}
		if form == "merged" && strings.HasPrefix(tensor, "mm.patch_merger") {
			return true
		}
		if strings.Contains(tensor, "attn_qkv") {
			tensor = "attn_qkv"
		}
		return choose(tensor)
	}
}

// chosen chooses by the seed.
func chosen(seed uint64) func(string) bool {
	return func(tensor string) bool {
		h := seed
		for _, b := range []byte(tensor) {
			h = h*31 + uint64(b)
		}
		return rand.New(rand.NewPCG(h, seed)).IntN(2) == 0
	}
}

// usualProjector are the keys of all.
func usualProjector(kind string) map[string]any {
	third := []float32{0.5, 0.5, 0.5}
	return map[string]any{
		"general.architecture": "clip", "clip.projector_type": kind, "clip.has_vision_encoder": true, "clip.use_gelu": true,
		"clip.vision.embedding_length": uint32(32), "clip.vision.feed_forward_length": uint32(48), "clip.vision.block_count": uint32(2),
		"clip.vision.projection_dim": uint32(projectorWidth), "clip.vision.attention.head_count": uint32(4), "clip.vision.attention.layer_norm_epsilon": float32(1e-6),
		"clip.vision.image_size": uint32(24), "clip.vision.patch_size": uint32(4), "clip.vision.image_mean": third, "clip.vision.image_std": third,
	}
}

// projectorForms are keys of a type, by the name of the form.
func projectorForms(kind string) map[string]map[string]any {
	const v = "clip.vision."
	ears := map[string]any{
		"clip.has_audio_encoder": true, "clip.audio.embedding_length": uint32(32), "clip.audio.feed_forward_length": uint32(48), "clip.audio.block_count": uint32(1),
		"clip.audio.projection_dim": uint32(projectorWidth), "clip.audio.attention.head_count": uint32(4), "clip.audio.attention.layer_norm_epsilon": float32(1e-6),
		"clip.audio.num_mel_bins": uint32(8), "clip.audio.projector.stack_factor": uint32(2), "clip.projector_type": nil,
	}
	with := func(more ...any) map[string]any {
		all := map[string]any{}
		for key, value := range ears {
			all[key] = value
		}
		for i := 0; i < len(more); i += 2 {
			all[more[i].(string)] = more[i+1]
		}
		return all
	}
	grid := map[string]any{v + "image_grid_pinpoints": []int32{24, 48, 48, 24, 48, 48}, v + "feature_layer": []int32{0, 2}, "clip.use_gelu": nil, "clip.use_silu": true}
	switch kind {
	case "mlp":
		return map[string]map[string]any{
			"": nil, "in pieces": grid,
			"that hears":   with("clip.vision.projector_type", "mlp", "clip.audio.projector_type", "ultravox"),
			"that hears 2": with("clip.vision.projector_type", "mlp", "clip.audio.projector_type", "voxtral"),
		}
	case "ldp", "ldpv2":
		return map[string]map[string]any{"": {v + "image_size": uint32(96)}}
	case "resampler":
		return map[string]map[string]any{"": {v + "projection_dim": uint32(128)}, "2.6": {v + "projection_dim": uint32(128), "clip.minicpmv_version": int32(3)}, "4": {v + "projection_dim": uint32(128), "clip.minicpmv_version": int32(5), "clip.minicpmv_query_num": uint32(16)}}
	case "qwen2.5vl_merger":
		omni := with("clip.projector_type", "qwen2.5o", v+"n_wa_pattern", uint32(2))
		return map[string]map[string]any{"": {v + "n_wa_pattern": uint32(2)}, "whole": {v + "n_wa_pattern": uint32(0)}, "that hears": omni}
	case "gemma3":
		return map[string]map[string]any{"": {v + "projector.scale_factor": uint32(2)}, "of 4": {v + "image_size": uint32(32)}}
	case "idefics3":
		return map[string]map[string]any{"": {v + "projector.scale_factor": uint32(2)}, "in pieces": {v + "projector.scale_factor": uint32(3), v + "preproc_image_size": uint32(96)}}
	case "lfm2", "kimivl", "internvl", "llama4":
		return map[string]map[string]any{"": {v + "projector.scale_factor": uint32(2)}}
	case "pixtral", "lightonocr":
		return map[string]map[string]any{"": nil, "merged": {v + "spatial_merge_size": uint32(2)}}
	}
	return map[string]map[string]any{"": nil}
}
