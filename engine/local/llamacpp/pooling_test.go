package llamacpp

import "testing"

func TestEmbeddingOfFile(t *testing.T) {
	tests := []struct {
		name string
		meta map[string]any
		want embedding
		ok   bool
	}{
		{"a model that writes text", nil, embedding{poolingLast, true, false}, true},
		{"one that says so", map[string]any{"x.pooling_type": uint32(0), "x.attention.causal": true}, embedding{poolingLast, true, false}, true},
		{"an encoder", map[string]any{"x.pooling_type": uint32(1), "x.attention.causal": false}, embedding{poolingMean, false, true}, true},
		{"an encoder with a token for all", map[string]any{"x.pooling_type": uint32(2), "x.attention.causal": false}, embedding{poolingCLS, false, true}, true},
		{"a decoder for embeddings", map[string]any{"x.pooling_type": uint32(3)}, embedding{poolingLast, true, true}, true},
		{"a reranker", map[string]any{"x.pooling_type": uint32(4)}, embedding{}, false},
		{"an encoder that does not say how", map[string]any{"x.attention.causal": false}, embedding{}, false},
		{"an unknown number", map[string]any{"x.pooling_type": uint32(9)}, embedding{}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := embeddingOf(head(t, "x", tt.meta))
			if (err == nil) != tt.ok || tt.ok && got != tt.want {
				t.Errorf("got %+v, %v; want %+v", got, err, tt.want)
			}
		})
	}
}

func TestMakesVectors(t *testing.T) {
	for _, tt := range []struct {
		architecture string
		layers       uint32
		want         bool
	}{{"qwen3vl", 3, false}, {"qwen3vlmoe", 3, false}, {"qwen3vl", 0, true}, {"llama", 3, true}} {
		file := head(t, tt.architecture, map[string]any{tt.architecture + ".n_deepstack_layers": tt.layers})
		if got := makesVectors(file); got != tt.want {
			t.Errorf("%s with %d layers: %v", tt.architecture, tt.layers, got)
		}
	}
	if _, err := embeddingOf(head(t, "qwen3vl", map[string]any{"qwen3vl.n_deepstack_layers": uint32(1), "qwen3vl.pooling_type": uint32(3)})); err == nil {
		t.Error("a model for vectors alone: no error")
	}
}

func TestEmbedShape(t *testing.T) {
	tests := []struct {
		name        string
		e           embedding
		input, rows int
		cells       int
		whole       bool
	}{
		{"a small encoder", embedding{poolingMean, false, true}, 512, 512, 512, true},
		{"a tiny encoder", embedding{poolingMean, false, true}, 128, 512, 512, true},
		{"a big encoder", embedding{poolingCLS, false, true}, 2048, 2048, 2048, true},
		{"a decoder for embeddings", embedding{poolingLast, true, true}, 8192, 512, 8192, false},
		{"a decoder that takes the mean", embedding{poolingMean, true, true}, 1000, 1024, 1024, true},
		{"a model that writes text", embedding{poolingLast, true, false}, 2048, 256, 2048, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := tt.e.limits(tt.input)
			if s.Rows != tt.rows || cellsFor(s, tt.input) != tt.cells || s.WholeInput != tt.whole {
				t.Errorf("%d rows, %d cells, whole %t", s.Rows, cellsFor(s, tt.input), s.WholeInput)
			}
		})
	}
}
