//go:build llamacpp && cgo

// Package mtmd compiles llama.cpp's mtmd library, which encodes images, from the
// sources in the Go module that carries llama.cpp. That module's own package also
// compiles image and audio decoders, whose headers it lacks; images are decoded in
// Go here. Each .cpp file includes one of the sources.
package mtmd

// #cgo CXXFLAGS: -std=c++17
import "C"
