package draft

import (
	"math"
	"testing"
)

// TestDepth: a model guesses as far as that makes more tokens per second.
func TestDepth(t *testing.T) {
	for _, tt := range []struct {
		name         string
		chance       float64
		step, share  float64 // of the model, and of a row of the step
		sequences    int
		most, fewest int // tokens
	}{
		{"right and fast", 0.95, 0.1, 0.1, 1, 24, 6},
		{"right, and a third as fast", 0.9, 0.3, 0.1, 1, 8, 2},
		{"as slow as the step", 0.95, 1, 0.1, 1, 0, 0},
		{"mostly wrong", 0.2, 0.1, 0.2, 1, 0, 0},
		{"rows cost as much as steps", 0.9, 0.1, 1, 1, 0, 0},
		{"many sequences, for which the model takes a row each", 0.9, 0.2, 0.4, 16, 0, 0},
	} {
		step, model := Pace{share: tt.share, one: 1}, Pace{share: 0.2, one: tt.step}
		d := NewDepth(float64(tt.sequences), tt.sequences, &step, &model)
		n, chance := 0, tt.chance
		for n < MaxTokens && d.Row(chance) && d.Further(chance*float64(tt.sequences), tt.sequences, tt.sequences) {
			n, chance = n+1, chance*tt.chance
		}
		if n > tt.most || n < tt.fewest {
			t.Errorf("%s: %d tokens, want %d to %d", tt.name, n, tt.fewest, tt.most)
		}
	}
}

// TestRepays: a text is read if it has gone on, or can be expected to, for long enough.
func TestRepays(t *testing.T) {
	step, model := Pace{share: 0.1, one: 1}, Pace{share: 0.1, one: 0.2}
	for _, tt := range []struct {
		name              string
		chance            float64
		behind, generated int
		left              int
		want              bool
	}{
		{"a short prompt", 0.8, 100, 1, 4096, true},
		{"a short prompt, and few tokens left", 0.8, 100, 1, 5, false},
		{"a very long one", 0.8, 20_000, 1, 4096, false},
		{"a very long one, and a long answer", 0.8, 20_000, 3000, 4096, true},
		{"a very long one, and a long answer near its end", 0.8, 20_000, 3000, 100, false},
		{"a model that is wrong", 0.1, 100, 1000, 4096, false},
	} {
		d := NewDepth(1, 1, &step, &model)
		if got := d.Repays(tt.chance, tt.behind, tt.generated, tt.left, 1); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestForget: what was found bad, and is not tried, comes closer to what was assumed.
func TestForget(t *testing.T) {
	r := NewRecord()
	first := r.Chance(Modelled)
	r.Add(Certain, 0, memory)
	low := r.Chance(Modelled)
	for range 2000 {
		r.Forget(Modelled)
	}
	if got := r.Chance(Modelled); low > first/2 || math.Abs(got-first) > 0.01 {
		t.Errorf("a chance of %.2f became %.2f, then %.2f", first, low, got)
	}
	step, model := Pace{one: 1}, Pace{one: 3}
	d := NewDepth(1, 1, &step, &model)
	for range 2000 {
		d.Forget()
	}
	if got := model.one; math.Abs(got-firstRatio) > 0.01 {
		t.Errorf("a slow model takes %.2f of a step", got)
	}
	model.one = 0.1
	if d.Forget(); model.one != 0.1 {
		t.Error("a fast model is forgotten")
	}
}

func TestKindOfMargin(t *testing.T) {
	for margin, want := range map[float32]Kind{0: Doubtful, 0.9: Doubtful, 1: Probable, 3: Certain, float32(math.Inf(1)): Certain} {
		if got := KindOfMargin(margin); got != want {
			t.Errorf("a margin of %v is of kind %d, want %d", margin, got, want)
		}
	}
}
