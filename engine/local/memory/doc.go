// Package memory says what a model takes before it is loaded, so that one that
// does not fit is refused with the reason, rather than by a machine that swaps
// or by the end of a process.
//
// What a model takes is its weights, the cache of what it has read, and buffers
// for computing. The heads of the files tell the sizes of all of them.
//
//   - Weights are parts of the file, mapped, or a copy of it in memory. Of some
//     types of matrices, llama.cpp makes copies in another order that its
//     kernels read faster. The package llamacpp then lets go of the original, so
//     that a matrix counts once, whether this processor has such kernels or not.
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
// (resident memory, in MiB, cells as allocated, memory in huge pages):
//
//	model                       cells   estimate   taken
//	SmolLM2 135M, Q4_1            512        185     178
//	SmolLM2 135M, Q4_1           2048        220     210
//	Gemma 3 270M, Q4_K_M         2048        494     483
//	Gemma 3 270M, Q4_K_M        12032        686     658
//	Qwen2.5 Coder 0.5B, Q4_K_M   2048        654     644
//
// So it is 1 to 5 percent above what a process takes, and some 40 MiB for a
// tiny encoder; a test keeps one model within 5 percent below and 25 above. Of
// models that nobody scores prompts with, it is too high by what the logits
// take, which shows where a vocabulary is large for its model. Projectors,
// states and architectures beside these follow llama.cpp's code and were not
// measured.
//
// github.com/gpustack/gguf-parser-go, which estimates llama.cpp's memory too,
// was tried and is not used: with 2048 cells it says 265 MiB of the first of
// these models, 1107 of Gemma and 671 of Qwen. It takes weights that are mapped
// for none, and what is reserved for written to; and it brings six modules that
// nothing else here needs.
package memory
