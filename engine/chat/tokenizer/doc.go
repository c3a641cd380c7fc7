// Package tokenizer tokenizes text with the vocabulary of a GGUF file, without
// llama.cpp.
//
// It returns the same tokens as llama.cpp but is safe for untrusted text. No text
// becomes a control or user-defined token, whatever it contains, and the tokens decode
// to the text. Special tokens are parsed only where the caller asks for it; see
// [Spellings]. Long texts are fine: pre-tokenizers are loops, not recursive regular
// expressions, and merging takes O(n log n).
//
// It supports BPE ("gpt2" in files) with all pre-tokenizers of the pinned llama.cpp,
// SentencePiece ("llama") and WordPiece ("bert").
package tokenizer
