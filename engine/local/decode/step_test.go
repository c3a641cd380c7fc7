package decode

import "testing"

// TestSharesPrefix: tiled attention pays where rows attend to the same cells.
func TestSharesPrefix(t *testing.T) {
	c := newCells(1000)
	common, own, other := c.allocate(nil, 100), c.allocate(nil, 100), c.allocate(nil, 100)
	for _, tt := range []struct {
		name   string
		active []*sequence
		want   bool
	}{
		{"one token", []*sequence{{rows: 1, cells: own}}, false},
		{"a prefill chunk", []*sequence{{rows: 128, cells: own}}, true},
		{"a first prefill chunk", []*sequence{{rows: 128}}, true},
		{"two generating sequences", []*sequence{{rows: 1, cells: own}, {rows: 1, cells: other}}, false},
		{"two generating sequences that share all cells", []*sequence{{rows: 1, cells: common}, {rows: 1, cells: common}}, true},
		{"a prefill chunk and a generating sequence", []*sequence{{rows: 1, cells: own}, {rows: 60, cells: other}}, true},
		{"a small prefill chunk and a generating sequence", []*sequence{{rows: 1, cells: own}, {rows: 2, cells: other}}, false},
	} {
		l := &loop{cells: c}
		if got := l.sharesPrefix(tt.active); got != tt.want {
			t.Errorf("%s: %t", tt.name, got)
		}
	}
}
