// Package inspection checks by the header whether a GGUF file can be run: a model, or a
// projector or an adapter for it.
//
// llama.cpp trusts its files. It rejects many invalid headers, but others crash the
// process at load, at the first request or at a certain character: 0 layers, a head of
// length 0, a duplicate token, an invalid norm. Such files are refused here, when a model
// is created and again before it is loaded.
//
// The rules are tables: metadata keys with their type and range, and tensors of each
// architecture (architectures.txt) and projector (projectors.txt) with their shapes and
// conditions. Tests compare the tables with llama.cpp's source, for unknown keys,
// architectures and tokenizers, and run a small model of each architecture and projector
// made from them.
//
// Weights are not checked.
package inspection
