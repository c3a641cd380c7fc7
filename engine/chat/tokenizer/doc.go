// Package tokenizer turns text into the tokens of a model, as its GGUF file
// describes them, without llama.cpp.
//
// It makes the same tokens as llama.cpp and differs in what a client's text
// may do to it. The text functions give tokens of ordinary text alone: no text
// becomes a control token or a user-defined one, whatever is in it, and the
// tokens spell the text. Special tokens are a matter of [Spellings], which the
// caller looks for only where they are meant. And no text is too long: pieces
// are found by loops, not by recursion, and merged in n log n steps.
//
// Three kinds of tokenizers are here: byte pair encoding ("gpt2" in files) with
// every pre-tokenizer that llama.cpp of the pinned version names, SentencePiece
// ("llama") and WordPiece ("bert").
package tokenizer
