// Package memory says what a model takes before it is loaded, so that one that
// does not fit is refused with the reason, rather than by a machine that swaps
// or by the end of a process.
//
// What a model takes is its weights, the cache of what it has read, and buffers
// for computing. The heads of the files tell the sizes of all of them.
//
//   - Weights are parts of the file, mapped. Of some types of matrices,
//     llama.cpp makes copies in another order that its kernels read faster. The
//     package llamacpp then lets go of the original, so that a matrix counts
//     once, whether this processor has such kernels or not.
//   - The cache has a key and a value for each token, layer and head. All
//     requests share one pool of cells, which is allocated at once and
//     written to, however short the texts are. Other layers keep a state of
//     fixed size for each request.
//   - Buffers are the intermediate results of one batch, logits, which tokens
//     of the cache may see which of the batch, the vocabulary, and the process.
//     What llama.cpp reserves and never writes to is left out: it is no memory.
//
// A second context, for embeddings by a model that writes text, is made when
// it is first asked for, and asks for its memory then.
package memory
