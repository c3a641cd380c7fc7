package decode

import "testing"

// TestAlike: attention in tiles pays where tokens look at the same cells.
func TestAlike(t *testing.T) {
	c := newCells(1000)
	common, own, other := c.take(nil, 100), c.take(nil, 100), c.take(nil, 100)
	for _, tt := range []struct {
		name   string
		active []*sequence
		want   bool
	}{
		{"one token", []*sequence{{rows: 1, cells: own}}, false},
		{"a piece of a prompt", []*sequence{{rows: 128, cells: own}}, true},
		{"the first piece of one", []*sequence{{rows: 128}}, true},
		{"the next tokens of two texts", []*sequence{{rows: 1, cells: own}, {rows: 1, cells: other}}, false},
		{"the next tokens of two that share all", []*sequence{{rows: 1, cells: common}, {rows: 1, cells: common}}, true},
		{"a piece beside another's next token", []*sequence{{rows: 1, cells: own}, {rows: 60, cells: other}}, true},
		{"few tokens beside others", []*sequence{{rows: 1, cells: own}, {rows: 2, cells: other}}, false},
	} {
		l := &loop{cells: c}
		if got := l.alike(tt.active); got != tt.want {
			t.Errorf("%s: %t", tt.name, got)
		}
	}
}
