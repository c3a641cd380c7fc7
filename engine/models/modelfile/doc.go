// Package modelfile reads and writes definition files, and makes models of
// them.
//
// A definition file says in a few lines what a model is made of:
//
//	FROM qwen2.5:0.5b
//	PARAMETER num_ctx 4096
//	SYSTEM You answer in one sentence.
//
// The format is that of Ollama's Modelfile. A FROM line names a model in the
// store, a GGUF file, or the address of a server that has the model. The other
// lines say what a request gets that does not say it itself. [Create] turns a
// file into a manifest with one blob for each part of it, [Of] turns a manifest
// back into a file that creates the same model, and [Read] gives a server what
// it needs.
//
// Definition files and manifests come from strangers. Reading one touches no
// file and no host, a definition names no key, and what a text may hold is
// bounded.
package modelfile
