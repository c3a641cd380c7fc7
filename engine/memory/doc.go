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
//
// The estimate was held against processes on two cores of x86-64 that had read a
// prompt of random tokens as long as their context and had scored another one
// (resident memory after each, in MiB, cells as allocated):
//
//	model                       cells   estimate   prompt   scored
//	SmolLM2 135M, Q4_1           2048        216      194      207
//	Gemma 3 270M, Q4_K_M         2048        496      380      490
//	Gemma 3 270M, Q4_K_M        16384        834      662      747
//	Qwen2.5 Coder 0.5B, Q4_K_M   2048        663      574      614
//	Qwen2.5 Coder 1.5B, Q4_K_M   2048       1316     1210     1247
//	MiniLM, F16                     -         85       55        -
//
// So it is 1 to 12 percent above the most that a process takes, and 30 MiB for
// a tiny one; a test keeps one model within 5 percent below and 25 above. Of
// models that nobody scores prompts with, it is too high by what the logits
// take, which shows where a vocabulary is large for its model. Projectors,
// states and architectures beside these follow llama.cpp's code and were not
// measured.
//
// github.com/gpustack/gguf-parser-go, which estimates llama.cpp's memory too,
// was tried and is not used: of the same processes with 2048 cells it says 265,
// 1107, 671 and 707 MiB. It takes weights that are mapped for none, and what is
// reserved for written to; and it brings six modules that nothing else here
// needs.
package memory
