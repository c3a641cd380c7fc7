// Package draft guesses how a text goes on, and decides how much of a guess is worth
// checking.
//
// A step of a model reads all weights once. Further rows in the same step cost less
// than a step of their own, so tokens that are guessed in front of the model are
// checked in one step: each row gives the logits that the model would have had there,
// and the ordinary sampler samples from them. A guess holds as long as it equals what
// was sampled. What follows the first mistake is thrown away. So the text, its
// probabilities and the order of random numbers are those without guesses.
//
// There are three sources. Texts repeat themselves and their prompts: [Index] finds
// where the last tokens occurred before. And a grammar often leaves one way to go on,
// except for white space, whose style is learned: [Spacing]. Those cost nothing.
// A smaller model with the same vocabulary can guess the rest, and takes a step of its
// own for each token: [Depth] decides how many are worth that, and none where the model
// is often wrong, slow, or one of many streams. The model itself is none of this
// package's business.
//
// How often guesses of a kind hold is measured, [Record], also of those that were not
// checked: the next sampled token tells whether their first token was right. What a row
// costs is measured too, [Pace]. [Plan] gives rows to guesses as long as the batch then
// makes more tokens per second. Beside many other sequences it gives none, since their
// rows use the step already.
package draft
