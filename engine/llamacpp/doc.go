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
// context, so nothing is locked while it computes.
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
// # Sameness
//
// The same request with the same seed gives the same text, whatever else is
// running, up to the order of floating-point additions: llama.cpp may add
// in another order when a batch has another size. Where two texts differ,
// the two best logits of the first differing step are as close as that
// error (the tests assert the bound).
package llamacpp
