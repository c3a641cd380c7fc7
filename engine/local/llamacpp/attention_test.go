//go:build llamacpp && cgo

package llamacpp

import "testing"

// TestAttention holds attention in tiles and in rows against a plain one, and so
// what they leave to llama.cpp, whose sums have 16 bits.
func TestAttention(t *testing.T) {
	const ofLlamaCPP = 0.1
	for _, tt := range []struct {
		name  string
		shape attentionCase
		most  float64
	}{
		{"three heads ask one", attentionCase{heads: 9, kvHeads: 3, key: 64, value: 64, tokens: 128, cells: 512}, 1e-3},
		{"seven heads ask one", attentionCase{heads: 14, kvHeads: 2, key: 64, value: 64, tokens: 50, cells: 256}, 1e-3},
		{"each asks its own", attentionCase{heads: 4, kvHeads: 4, key: 128, value: 128, tokens: 100, cells: 256}, 1e-3},
		{"wide heads", attentionCase{heads: 4, kvHeads: 1, key: 256, value: 256, tokens: 17, cells: 256}, 1e-3},
		{"as many heads as a tile has rows, and more", attentionCase{heads: 80, kvHeads: 1, key: 96, value: 64, tokens: 20, cells: 256}, 1e-3},
		{"a width that no block divides", attentionCase{heads: 2, kvHeads: 1, key: 80, value: 80, tokens: 33, cells: 256}, 1e-3},
		{"sinks", attentionCase{heads: 8, kvHeads: 2, key: 64, value: 64, tokens: 40, cells: 256, sinks: true}, 1e-3},
		{"far", attentionCase{heads: 14, kvHeads: 2, key: 64, value: 64, tokens: 16, cells: 4096}, 1e-3},
		{"a token of each of eight texts", attentionCase{heads: 9, kvHeads: 3, key: 64, value: 64, tokens: 8, cells: 512}, 1e-3},
		{"one token, all masked", attentionCase{heads: 32, kvHeads: 1, key: 64, value: 64, tokens: 1, cells: 256}, 1e-3},
		{"few rows", attentionCase{heads: 9, kvHeads: 3, key: 64, value: 64, tokens: 3, cells: 256}, 1e-3},
		{"two rows", attentionCase{heads: 9, kvHeads: 3, key: 64, value: 64, tokens: 2, cells: 256}, 1e-3},
		{"few rows, wide heads", attentionCase{heads: 4, kvHeads: 1, key: 256, value: 256, tokens: 2, cells: 512}, 1e-3},
		{"few rows, heads that no block divides, and sinks", attentionCase{heads: 14, kvHeads: 2, key: 80, value: 80, tokens: 2, cells: 256, sinks: true}, 1e-3},
		{"part of a tile of cells", attentionCase{heads: 2, kvHeads: 2, key: 64, value: 64, tokens: 40, cells: 200}, 1e-3},
		{"less than a tile of cells", attentionCase{heads: 12, kvHeads: 12, key: 32, value: 32, tokens: 40, cells: 40}, 1e-3},
		{"an odd number of tiles of cells, and sinks", attentionCase{heads: 6, kvHeads: 2, key: 64, value: 64, tokens: 70, cells: 130, sinks: true}, 1e-3},
		{"the least and the largest values", attentionCase{heads: 6, kvHeads: 2, key: 64, value: 64, tokens: 40, cells: 256, extreme: true}, 4}, // of 65504
		{"so many cells that a tile has fewer rows", attentionCase{heads: 4, kvHeads: 1, key: 32, value: 32, tokens: 20, cells: 1<<16 + 64}, 1e-3},
		{"left to llama.cpp: a length that no vector divides", attentionCase{heads: 2, kvHeads: 2, key: 66, value: 66, tokens: 4, cells: 256}, ofLlamaCPP},
	} {
		for _, tt.shape.threads = range []int{1, 2, 5} {
			if got := attentionDifferent(tt.shape); got != 0 && tt.most != ofLlamaCPP {
				t.Errorf("%s, %d threads: %d results have other bits in rows, or in another order of cells", tt.name, tt.shape.threads, got)
			}
			if got := attentionAlone(tt.shape); got != 0 && tt.most != ofLlamaCPP {
				t.Errorf("%s, %d threads: %d results have other bits for a token alone", tt.name, tt.shape.threads, got)
			}
			if got := attentionError(tt.shape); got < 0 || got > tt.most {
				t.Errorf("%s, %d threads: an error of %g", tt.name, tt.shape.threads, got)
			}
		}
	}
}
