// Package memory estimates the memory of a model before it is loaded, so that a
// model that does not fit is rejected with a reason instead of swapping or being
// killed for lack of memory.
//
// A model takes memory for weights, KV cache and buffers. The GGUF headers have
// the sizes of all three.
//
//   - Weights are the mapped file or a copy of it. llama.cpp repacks matrices of
//     some types; package llamacpp then drops the pages of the original, so each
//     matrix counts once.
//   - The KV cache has a key and a value for each token, layer and KV head. All
//     requests share one pool of KV cells, which is allocated and written to at
//     load. Recurrent layers keep a state of fixed size per request.
//   - Buffers are the activations of one batch, logits, attention masks, the
//     vocabulary and the process itself. What llama.cpp reserves and never
//     touches does not count.
//
// The second context, for embeddings with a generating model, is planned when it
// is created.
//
// The estimate was compared with processes on two x86-64 cores that had prefilled
// a random prompt as long as their context and scored another one (resident
// memory in MiB, huge pages):
//
//	model                       cells   estimate   taken
//	SmolLM2 135M, Q4_1            512        185     178
//	SmolLM2 135M, Q4_1           2048        220     210
//	Gemma 3 270M, Q4_K_M         2048        494     483
//	Gemma 3 270M, Q4_K_M        12032        686     658
//	Qwen2.5 Coder 0.5B, Q4_K_M   2048        654     644
//
// It is 1 to 5 percent too high, and some 40 MiB for a tiny encoder; a test allows
// 5 percent below and 25 above. Without scoring it is too high by the logits,
// which matters for a small model with a large vocabulary. The rules for
// projectors, recurrent states and other architectures follow llama.cpp's code and
// were not measured.
//
// github.com/gpustack/gguf-parser-go was tried and is not used: with 2048 cells it
// estimates 265 MiB for SmolLM2, 1107 for Gemma and 671 for Qwen. It does not
// count mapped weights but counts what is only reserved, and it needs six modules
// that nothing else here does.
package memory
