package memory

import "fmt"

// Images describes an image model.
type Images struct {
	Weights int64 // of all its files, in bytes
	Pixels  int   // of an image of the usual size
	Most    int   // pixels of the largest image that can be asked for
	Tiny    bool  // it decodes with a tiny autoencoder

	// The largest attention: pixels on a side of a token, heads, and numbers of a token.
	Patch, Heads, Width int
}

// Bytes that decoding an image takes for each pixel: at full size, the widest
// convolution with its input as a matrix of 16-bit numbers, 3x3 for each channel, and
// with 32-bit maps. Measured with a tiny autoencoder: 1922 bytes for each pixel, from
// 256x256 to 1024x1024. The autoencoder of Qwen-Image has three-dimensional
// convolutions of 96 channels, which take less than the others.
const (
	decodePixel     = 256*9*2 + 2*256*4 // 256 channels; a map before and one behind
	decodePixelTiny = 64*9*2 + 3*64*4   // 64 channels, and the map that a block adds
)

// A step has the scores of each head as 32-bit numbers, and about 17 of these for each
// number of a token: measured were 120 MiB for 1024x1024 pixels, one head and a width
// of 128, and 22 MiB for 512x512.
const (
	textTokens  = 512 // of a prompt, beside those of the image
	tokenNumber = 17 * float32Bytes
)

// imageProcess is what the process itself takes, in bytes, with the vocabularies of
// text encoders: 110 to 140 MiB were measured.
const imageProcess = 160 << 20

// buffers is what an image of so many pixels takes. Denoising and decoding follow each
// other, and each frees its memory.
func (m Images) buffers(pixels int) int64 {
	decode := times(decodePixel, pixels)
	if m.Tiny {
		decode = times(decodePixelTiny, pixels)
	}
	tokens := pixels/max(m.Patch*m.Patch, 1) + textTokens
	scores := times(times(int64(m.Heads)*float32Bytes, tokens), tokens)
	return imageProcess + max(decode, add(scores, times(int64(m.Width)*tokenNumber, tokens)))
}

// FitImages plans an image model in available bytes; 0: as many as it needs. If it
// does not fit, the error is a [*DoesNotFit]. Images may be larger than usual as far as
// half of the memory allows that is then left.
func FitImages(m Images, available int64) (Plan, error) {
	plan := Plan{Weights: m.Weights, Buffers: m.buffers(m.Pixels), Pixels: m.Pixels}
	if available > 0 && plan.Total() > available {
		return Plan{}, &DoesNotFit{Plan: plan, Available: available, Image: true}
	}
	allowed := plan.Buffers + (available-plan.Total())/2
	for pixels := m.Most; pixels > m.Pixels; pixels -= pixelStep {
		if buffers := m.buffers(pixels); available == 0 || buffers <= allowed {
			plan.Pixels, plan.Buffers = pixels, buffers
			break
		}
	}
	return plan, nil
}

// pixelStep is by how much the largest image is made smaller until it fits.
const pixelStep = 256 * 256

// imageText is the error of an image model.
func (e *DoesNotFit) imageText() string {
	return fmt.Sprintf("The model needs %s of memory (weights %s, buffers %s), and %s are free.",
		size(e.Plan.Total()), size(e.Plan.Weights), size(e.Plan.Buffers), size(e.Available))
}
