// Package decode is the decode loop of a loaded model: which sequence computes
// next, which KV cells it takes, and which token it samples. It drives any
// [Backend], so it is plain Go that runs and is tested anywhere; package
// llamacpp is the backend that computes.
//
// # One loop
//
// One goroutine owns the backend. Each turn it drops requests whose clients
// left, admits new ones and computes one batch: a token for every sequence that
// generates, then prefill chunks in fair shares. Then it samples. Nothing else
// calls the backend, except to interrupt it.
//
// # One pool of KV cells
//
// A token that was decoded occupies one cell of the KV cache. All sequences
// draw from one pool, and a cell may belong to several of them: the longest
// prefix that a new request has in common with another sequence, running or
// cached after its end, is shared instead of computed again. A request that
// starts while another still prefills the same prefix waits for it. When cells
// run out, cached prefixes are evicted first, least recently used before
// others; then the youngest request is preempted and prefilled again later. A
// running request never fails because another one came.
//
// # Drafts
//
// A sequence that generates may have further rows in a batch, for tokens that are
// guessed; see package draft. The sampler samples from one row after the other, as long
// as the guess in the next row is what it sampled. The cells of the others are freed.
// Where prompts are being prefilled there are no guesses: such batches are full.
//
// A second model, which guesses, has a slot for each running sequence and KV cells of its
// own. It, too, decodes only once what several texts begin with: the others wait for the
// oldest, and share its cells.
//
// # Images
//
// The embeddings of an image occupy KV cells like tokens do. In the tokens of a
// sequence each of them is a negative number, a hash of the picture and of the
// cell's position in it, so prefixes with images are shared and cached like
// others, and an image in the cache is neither encoded nor decoded again.
// Encoding an image and decoding its embeddings are steps of their own, between
// two batches.
//
// # Embeddings
//
// Inputs are packed into batches; another request may have its turn between two
// of them.
//
// # Reproducibility
//
// The same request with the same seed gives the same text, to the last bit of
// each log-probability, whatever else is running, in whichever chunks and cells
// its prompt is read, and whichever part of it is cached. Rounding would be
// enough to change a text: activations are quantized to 8 bits before most
// products, and an error that moves one value across a rounding boundary is
// enlarged by each layer, to 0.1 or more of a log-probability.
//
// So what a row of a batch gets must not depend on the rows beside it:
//
//   - Products of package matrix and attention of package llamacpp do not depend
//     on them. llama.cpp's own products may: those of LoRAs, of types that have no
//     kernel here, of matrices in three dimensions, and all with --kernels ggml.
//   - A model with ALiBi or a softcap of attention logits is left to llama.cpp's
//     own kernel of attention, which depends on where its cells lie.
//
// For such a model the order of additions may differ, also between a guess and a
// token that comes alone. Where two texts differ, the
// two top log-probabilities of the first differing step are close. Such a model's last
// prompt token is decoded alone, as it is when the rest is cached; other models read it
// with the rest.
package decode
