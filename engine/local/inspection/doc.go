// Package inspection says why a GGUF file cannot be run, by its head: a model,
// and a projector or an adapter beside it.
//
// llama.cpp trusts the files it loads. Much of what a file says wrongly it
// finds and refuses; but for a number of layers of 0, a head of 0 numbers, a
// token that is there twice or a norm of no sense it ends the process, at
// loading, at the first request or at the first text with a certain letter. A
// file that would do that is refused here: when a model is made of it, and
// again before it is loaded.
//
// What is wanted of a file is written down in tables. Those of the metadata
// (keys.go) say for each key that llama.cpp reads which type and range it must
// have; those of the architectures (architectures.txt) which tensors there must
// be, of which shape, and what else must hold between the numbers, and so for
// projectors (projector_keys.go, projectors.txt). The tests
// read llama.cpp's source again and fail where it knows keys, architectures or
// tokenizers that the tables do not; they make a small model of each
// architecture and a projector of each type by the tables, and run them.
//
// Weights are not looked at, nor whether a model makes sense.
package inspection
