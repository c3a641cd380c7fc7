// Package diffusiontest makes an image model for tests.
//
// No diffusion model is small enough to fetch for a test. So this writes a FLUX.2
// klein with one layer of each kind and random weights: a text encoder, a diffusion
// model and a tiny autoencoder, 17 MB together, and a LoRA. The image engine loads and runs it
// like any other, in a second or two for a small image. The image is noise, but the
// prompt and the seed decide which.
package diffusiontest
