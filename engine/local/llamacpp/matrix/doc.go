// Package matrix multiplies weights by activations, in place of ggml's kernels: a
// matrix whose type has a kernel here is repacked when it is loaded.
//
// ggml takes one row of weights and one token at a time. Here a panel of 32 rows
// meets a tile of up to 128 tokens: the weights of 32 columns are unpacked into
// registers once, and all tokens of the tile pass by. Activations are quantised
// to 8 bits by 32 columns, unless the weights have 16 or 32 bits themselves. Sums have
// the same order whatever the number of tokens, so a token's result does not depend
// on which others are in the batch.
//
// The layout is the same for all instruction sets (layout.h, pack.cpp), and each
// has one file of kernels, with what they share in set.h. They, and a plain form
// (plain.cpp), are tested against sums in double precision.
//
// A format is a line in layout.h, which says how its scales and quants lie, and a
// function in pack.cpp that reads its blocks. Only a new kind of scales or quants
// needs a few lines in each file of kernels, to unpack it.
//
// GELU comes with the products that it follows: ggml's would take longer than they do.
package matrix
