package engine

import "cmp"

// ImageRequest asks for images of what a prompt describes.
type ImageRequest struct {
	Model   string
	Prompt  string
	Choices int // number of images, at least 1
	Width   int // in pixels; both sides 0: model default
	Height  int
	Quality string // as in the OpenAI style; empty: model default
	Style   string // like Quality
	Drawing Drawing
}

// Drawing are settings of image models. Zero values are the model's defaults.
type Drawing struct {
	Steps          int     // of denoising
	Guidance       float64 // scale of classifier-free guidance; 1: none
	Sampler        string  // by the engine's name
	Scheduler      string  // by the engine's name
	NegativePrompt string  // what the images should not show
	Seed           uint64  // of the first image; each further one has the next number
	Seeded         bool    // Seed is set; otherwise it is random
}

// Fill fills in what is not set.
func (d *Drawing) Fill(defaults Drawing) {
	d.Steps = cmp.Or(d.Steps, defaults.Steps)
	d.Guidance = cmp.Or(d.Guidance, defaults.Guidance)
	d.Sampler = cmp.Or(d.Sampler, defaults.Sampler)
	d.Scheduler = cmp.Or(d.Scheduler, defaults.Scheduler)
	d.NegativePrompt = cmp.Or(d.NegativePrompt, defaults.NegativePrompt)
	if !d.Seeded {
		d.Seed, d.Seeded = defaults.Seed, defaults.Seeded
	}
}
