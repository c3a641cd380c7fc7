package diffusion

import "strings"

// Family is a kind of image models, with what its models have in common.
type Family struct {
	Name string
	Step int // the sides of images are multiples of this, in pixels

	// What its authors recommend, for requests that say nothing else.
	Side     int     // of a square image, in pixels
	Steps    int     // of denoising
	Guidance float64 // scale of classifier-free guidance; 1: none, for distilled models

	Attention Attention
}

// Attention is the largest attention of a diffusion model: of each token to each. Its
// scores are most of what a step takes in memory.
type Attention struct {
	Patch int // pixels on a side of a token
	Heads int
	Width int // of a token
}

// MinSide and MaxSide bound the sides of images, in pixels.
const (
	MinSide = 64
	MaxSide = 2048
)

// known are the families, each with the attention of its largest model and with the tensors that tell them apart, without the prefix
// of the diffusion model. The first that matches counts.
var known = []struct {
	Family
	tensor string // prefix
	unless string // another tensor that it does not have; empty: none
}{
	{Family{"FLUX.2", 16, 1024, 20, 1, Attention{16, 48, 6144}}, "single_blocks.47.linear1.weight", ""},
	{Family{"FLUX.2 klein", 16, 1024, 4, 1, Attention{16, 32, 4096}}, "double_stream_modulation_img.lin.weight", ""},
	{Family{"FLUX", 8, 1024, 20, 1, Attention{16, 24, 3072}}, "double_blocks.", "double_blocks.0.img_mlp.gate_proj.weight"},
	{Family{"Stable Diffusion 3", 8, 1024, 28, 4.5, Attention{16, 38, 2432}}, "joint_blocks.", ""},
	{Family{"Qwen-Image", 8, 1024, 20, 2.5, Attention{16, 24, 3072}}, "transformer_blocks.0.img_mod.1.weight", ""},
	{Family{"Z-Image", 8, 1024, 8, 1, Attention{16, 30, 3840}}, "cap_embedder.0.weight", ""},
	{Family{"Stable Diffusion XL", 64, 1024, 20, 7, Attention{16, 10, 640}}, "label_emb.0.0.weight", "input_blocks.8.0.time_mixer.mix_factor"},
	{Family{"Stable Diffusion", 64, 512, 20, 7, Attention{8, 8, 320}}, "input_blocks.", "input_blocks.8.0.time_mixer.mix_factor"},
}

// wholePrefix begins the names of a diffusion model in a file with other parts.
const wholePrefix = "model.diffusion_model."

// fluxTensor has a column for each number of a token, in all sizes of FLUX.
const fluxTensor = "double_blocks.0.img_attn.proj.weight"

// fluxHead is the width of each head of FLUX.
const fluxHead = 128

// attention is that of the family, or for FLUX what the file says.
func (h header) attention(f Family, prefix string) Attention {
	a := f.Attention
	if w := h.columns[prefix+fluxTensor]; w >= fluxHead && w <= maxWidth {
		a.Width, a.Heads = int(w), int(w/fluxHead)
	}
	return a
}

// maxWidth is far above what models have.
const maxWidth = 1 << 16

// family recognises the family of a diffusion model by its tensors, whose names
// begin with prefix.
func family(names map[string]bool, prefix string) (Family, bool) {
	has := func(begin string) bool {
		if begin == "" {
			return false
		}
		begin = prefix + begin
		if names[begin] {
			return true
		}
		if !strings.HasSuffix(begin, ".") {
			return false
		}
		for name := range names {
			if strings.HasPrefix(name, begin) {
				return true
			}
		}
		return false
	}
	for _, k := range known {
		if has(k.tensor) && !has(k.unless) {
			return k.Family, true
		}
	}
	return Family{}, false
}
