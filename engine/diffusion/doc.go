// Package diffusion recognises the files of image models by their headers: which
// part of a model a file has, and which family of models it belongs to. Names of
// files mean nothing.
//
// An image model is one file with everything, or a diffusion model with its parts:
// text encoders and an autoencoder. Both come as safetensors or GGUF.
package diffusion
