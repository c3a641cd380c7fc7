// Package llamacpp is a [chat.Model] that computes: a GGUF file run by
// llama.cpp, called by cgo.
//
// Only the files with the build tag llamacpp need cgo; they are a thin
// binding, the vocabulary and [Open]. What decides (which sequence computes
// next, whose cells are taken, which token is chosen) is plain Go that runs
// and is tested anywhere. Without the tag, Open is an error that says so.
//
// # One loop
//
// One goroutine owns the llama.cpp context. Each turn it drops the requests
// whose clients left, admits new ones, and computes one batch: a token for
// every sequence that generates, then pieces of the prompts that are still
// being read, in fair shares. Then it samples. Nothing else touches the
// context.
//
// # One pool of cells
//
// A token that a sequence has read occupies one cell of the key-value
// cache. All sequences draw from one pool, and a cell may belong to several
// sequences: the longest prefix that a new request has in common with any
// other, running or kept after its end, is shared instead of read again. A
// request that starts while another still reads the same prefix waits for
// it. When cells run out, kept prefixes go first, the one unused for
// longest before the others; then the youngest request gives up its cells
// and reads its tokens again later. A running request never fails because
// another one came.
//
// # Vectors
//
// A file that names a pooling type, or whose attention is not causal, is a
// model for embeddings alone: it has no loop, and its vectors are pooled as
// the file says (the mean, the first token or the last). An encoder sees a
// whole input at once, so that the input must fit one batch: 2048 tokens,
// unless Options.Context asks for more.
//
// A model that writes text makes vectors too. llama.cpp's own server refuses
// that unless it is told how to pool; here the vector is that of the last
// token, the only one that has seen all others. A second context is made for
// it when the first vector is asked for, and freed with the model; inputs may
// have 2048 tokens, for which it has cells of its own.
//
// Inputs are packed into batches, and between two batches another request
// may have its turn. Embeddings and the loop take turns too, batch by batch:
// threads of two computations would wait for each other.
//
// # Images
//
// With a projector, an image takes cells like tokens do. In a sequence each of
// its cells is a negative number made of the picture's hash and the cell's
// place, so that prefixes with images are shared and kept like others, and an
// image that is in the cache is neither computed nor read again. What stands
// in the cells is computed as a step of its own, between two batches, and read
// as a batch of its own.
//
// # Speed
//
// Weights are copied into memory in huge pages where the system grants them
// and there is room: each token reads all of them, and a mapped file comes in
// small pages. Attention of many tokens that look at the same cells is computed
// in tiles, by a kernel of our own that ggml asks as it asks its other
// accelerators; llama.cpp's takes one token and one head at a time. Like
// llama.cpp's it passes over cells that a token may not see, so that kept
// prefixes cost little. Prompts are read in pieces that fit the processor's
// caches.
//
// # Sameness
//
// The same request with the same seed gives the same text, whatever else is
// running, up to the order of floating-point additions: llama.cpp may add
// in another order when a batch has another size. Where two texts differ,
// the two best logits of the first differing step are as close as that
// error (the tests assert the bound).
package llamacpp
