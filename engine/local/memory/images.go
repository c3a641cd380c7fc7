package memory

import "fmt"

// Images describes an image model.
type Images struct {
	Weights int64 // of all its files, in bytes
	Pixels  int   // of an image
	Tiny    bool  // it decodes with a tiny autoencoder
}

// Bytes that decoding an image takes for each pixel, an estimate for the autoencoders of
// Stable Diffusion: some 1664 MiB for 512x512 pixels, and 480 MiB with a tiny one. Denoising
// takes less. They have not been measured against each kind of model.
const (
	decodePixel     = 1664 << 20 / (512 * 512)
	decodePixelTiny = 480 << 20 / (512 * 512)
)

// imageProcess is what the process itself takes, in bytes.
const imageProcess = 64 << 20

// FitImages plans an image model in available bytes; 0: as many as it needs. If it
// does not fit, the error is a [*DoesNotFit].
func FitImages(m Images, available int64) (Plan, error) {
	pixel := int64(decodePixel)
	if m.Tiny {
		pixel = decodePixelTiny
	}
	plan := Plan{Weights: m.Weights, Buffers: imageProcess + pixel*int64(m.Pixels)}
	if available > 0 && plan.Total() > available {
		return Plan{}, &DoesNotFit{Plan: plan, Available: available, Image: true}
	}
	return plan, nil
}

// imageText is the error of an image model.
func (e *DoesNotFit) imageText() string {
	return fmt.Sprintf("The model needs %s of memory (weights %s, buffers %s), and %s are free.",
		size(e.Plan.Total()), size(e.Plan.Weights), size(e.Plan.Buffers), size(e.Available))
}
