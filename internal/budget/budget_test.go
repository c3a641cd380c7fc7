package budget

import "testing"

func TestShare(t *testing.T) {
	all := New(10)
	first, second := all.Share(), all.Share()
	for _, step := range []struct {
		name string
		do   func() bool
		want bool
		free int64
	}{
		{"some", func() bool { return first.Reserve(6) }, true, 4},
		{"more than there is", func() bool { return second.Reserve(5) }, false, 4},
		{"all", func() bool { return second.Reserve(4) }, true, 0},
		{"the end of one", func() bool { first.Release(); return true }, true, 6},
		{"after the end", func() bool { return first.Reserve(1) }, false, 6},
		{"the end again", func() bool { first.Release(); return true }, true, 6},
		{"no limit", func() bool { var none *Share; none.Release(); return none.Reserve(100) }, true, 6},
	} {
		if got, free := step.do(), all.Free(); got != step.want || free != step.free {
			t.Errorf("%s: %v with %d free, want %v with %d", step.name, got, free, step.want, step.free)
		}
	}
}
