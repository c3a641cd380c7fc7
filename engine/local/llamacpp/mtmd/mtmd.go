//go:build llamacpp && cgo

// Package mtmd is the part of llama.cpp that sees: it turns a picture into
// what a language model reads in the place of tokens.
//
// It has no Go of its own. llama.cpp's sources come as a Go module, whose
// package of this part also compiles readers of picture and sound files, for
// which the module lacks the headers. Pictures are read in Go here, so this
// package compiles the rest of that part from the same sources: each .cpp file
// includes one of them, found by the same flag as llama.cpp's public headers.
package mtmd

// #cgo CXXFLAGS: -std=c++17
import "C"
