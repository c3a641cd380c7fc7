package llamacpp

import "testing"

func TestSize(t *testing.T) {
	const cell = 1 << 10
	tests := []struct {
		name    string
		options Options
		trained int
		cells   int64 // that half of the free memory has room for
		limit   int
		pool    int
		fails   bool
	}{
		{"one full context and more", Options{Parallel: 8}, 8192, 1 << 20, 8192, 16384, false},
		{"a short context for each", Options{Parallel: 4}, 1024, 1 << 20, 1024, 4096, false},
		{"memory cuts what nobody asked for", Options{Parallel: 8}, 131072, 10000, 10240, 10240, false},
		{"hardly any memory", Options{Parallel: 8}, 131072, 10, 2048, 2048, false},
		{"a context that was asked for", Options{Parallel: 1, Context: 4000}, 8192, 1 << 20, 4000, 4096, false},
		{"it may take twice what is affordable", Options{Parallel: 8, Context: 16384}, 8192, 8192, 16384, 16384, false},
		{"and no more", Options{Parallel: 8, Context: 16385}, 8192, 8192, 0, 0, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			limit, pool, err := size(tt.options, tt.trained, cell, tt.cells*cell)
			if limit != tt.limit || pool != tt.pool || (err != nil) != tt.fails {
				t.Errorf("size = %d, %d, %v; want %d, %d", limit, pool, err, tt.limit, tt.pool)
			}
		})
	}
}
