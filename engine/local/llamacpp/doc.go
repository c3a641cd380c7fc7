// Package llamacpp loads GGUF files and computes them with llama.cpp, called by
// cgo. It is the backend of package decode, which decides what to compute.
//
// Only the files with the build tag llamacpp need cgo. Without the tag, [Open]
// is an error that says so.
//
// # Embeddings
//
// A file that names a pooling type, or whose attention is not causal, is a
// model for embeddings alone: it generates no text, and its vectors are pooled
// as the file says (mean, first token or last). An encoder sees a whole input
// at once, so the input must fit one batch: 2048 tokens, unless Options.Context
// asks for more.
//
// A model that generates text makes vectors too. llama.cpp's own server refuses
// that unless it is told how to pool; here the vector is that of the last
// token, the only one that has seen all others. A second context is created for
// the first vector and freed with the model; inputs may have 2048 tokens, for
// which it has KV cells of its own. Embeddings and text take turns, batch by
// batch: the threads of two computations would wait for each other.
//
// # Speed
//
// Weights are copied into memory in huge pages where the system grants them
// and there is memory for it: each token reads all of them, and a mapped file
// comes in small pages. Attention of many tokens that look at the same cells is
// computed in tiles, by a kernel of our own behind ggml's interface for
// accelerators; llama.cpp's takes one token and one head at a time. Like
// llama.cpp's it skips cells that a token may not see, so cached prefixes cost
// little. Prefill chunks are sized to fit the CPU caches.
package llamacpp
