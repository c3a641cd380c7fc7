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

// TestKept has a request that holds much: it does not have what is kept for
// those that hold little.
func TestKept(t *testing.T) {
	const all = 16 * little
	b := New(all)
	much, few := b.Share(), b.Share()
	for _, step := range []struct {
		name string
		do   func() bool
		want bool
	}{
		{"much", func() bool { return much.Reserve(13 * little) }, true},
		{"nobody is refused", much.Crowds, false},
		{"what is kept", func() bool { return much.Reserve(little + 1) }, false},
		{"up to it", func() bool { return much.Reserve(little) }, true},
		{"nothing more", func() bool { return much.Reserve(1) }, false},
		{"it crowds", much.Crowds, true},
		{"little", func() bool { return few.Reserve(little) }, true},
		{"it does not crowd", few.Crowds, false},
		{"more than little", func() bool { return few.Reserve(1) }, false},
		{"the end of much", func() bool { much.Release(); return much.Crowds() }, false},
		{"more than little, with room", func() bool { return few.Reserve(1) }, true},
		{"it crowds as well", few.Crowds, true},
		{"the largest", func() bool { few.Release(); return New(Least(5 * little)).Share().Reserve(5 * little) }, true},
		{"more than there can be", func() bool { return much.Exceeds(14*little + 1) }, true},
		{"as much as there can be", func() bool { return few.Exceeds(14 * little) }, false},
		{"no limit", func() bool { var none *Share; return none.Crowds() || none.Exceeds(1) }, false},
	} {
		if got := step.do(); got != step.want {
			t.Errorf("%s: %v", step.name, got)
		}
	}
}
