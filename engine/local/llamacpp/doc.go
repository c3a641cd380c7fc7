// Package llamacpp loads GGUF files and runs them with llama.cpp, through cgo. It
// is the backend of package decode, which schedules the batches.
//
// Only the files with the build tag llamacpp need cgo. Without the tag, [Open]
// returns an error.
//
// # Embeddings
//
// A file that sets a pooling type, or whose attention is not causal, is an
// embedding model: it generates no text, and its vectors are pooled as the file
// says (mean, CLS or last token). An input of an encoder must fit one batch: 2048
// tokens, unless Options.Context asks for more.
//
// A generating model makes embeddings too. llama.cpp's server refuses that
// unless it is told how to pool; here the vector is that of the last token, the
// only one that attends to all others. A second context, with KV cells for
// inputs of 2048 tokens, is created on first use and freed with the model.
// Embedding and decoding take turns by batch: their threads would compete for
// cores.
//
// # Speed
//
// Weights are copied into huge pages if the system grants them and memory
// suffices: each token reads all weights, and a mapped file comes in small
// pages. Attention of many rows to the same KV cells is computed in tiles, by a
// kernel of our own behind ggml's interface for accelerators; llama.cpp's takes
// one row and one head at a time. Single rows have a kernel too, and a row gets
// the same bits from both. Like llama.cpp's it skips masked cells, so
// cached prefixes cost little. Prefill chunks fit the CPU caches. Products of
// quantised weights are computed by package matrix, where it has a kernel.
package llamacpp
