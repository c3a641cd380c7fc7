package decode

import (
	"math"
	"slices"
	"testing"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
)

// candidates have these probabilities, in falling order.
func candidates(probabilities ...float64) []candidate {
	var all []candidate
	for i, p := range probabilities {
		all = append(all, candidate{int32(i), float32(math.Log(p))})
	}
	return all
}

// TestTypical: the kept candidates are closest to the entropy, and need not be
// the most likely.
func TestTypical(t *testing.T) {
	for _, tt := range []struct {
		name          string
		probabilities []float64
		p             float64
		want          []int32
	}{
		{"nothing", nil, 0.5, nil},
		{"one", []float64{1}, 0.5, []int32{0}},
		// Surprisals .69 1.39 2.08 2.08, mean 1.21: nearest are 1, 0, then 2.
		{"the nearest", []float64{0.5, 0.25, 0.125, 0.125}, 0.2, []int32{1}},
		{"up to p", []float64{0.5, 0.25, 0.125, 0.125}, 0.6, []int32{0, 1}},
		{"past p", []float64{0.5, 0.25, 0.125, 0.125}, 0.76, []int32{0, 1, 2}},
		// Surprisals .22 then 3 each, mean .78: the most likely is nearest.
		{"a sure one", []float64{0.8, 0.05, 0.05, 0.05, 0.05}, 0.5, []int32{0}},
		// Surprisals 1.05 and 2.73 ten times, mean 2.14: the most likely is farthest.
		{"the most likely is not typical", append([]float64{0.35}, slices.Repeat([]float64{0.065}, 10)...), 0.5, []int32{1, 2, 3, 4, 5, 6, 7, 8}},
		{"some that cannot be", []float64{0.5, 0.25, 0.125, 0.125, 0, 0}, 0.2, []int32{1}},
	} {
		var got []int32
		for _, c := range typical(candidates(tt.probabilities...), tt.p) {
			got = append(got, c.token)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: kept %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestTypicalInTurn: typical_p comes behind top_k and before top_p, and the
// shares of what stays are as they were.
func TestTypicalInTurn(t *testing.T) {
	v := words("a", "b", "c", "d")
	logits := []float32{-60, -60}
	for _, c := range candidates(0.5, 0.25, 0.125, 0.125) {
		logits = append(logits, c.logit)
	}
	for _, tt := range []struct {
		name     string
		sampling engine.Sampling
		want     map[int32]float64
	}{
		{"alone", engine.Sampling{Temperature: new(1.0), TopP: new(1.0), TypicalP: new(0.6)}, map[int32]float64{2: 2. / 3, 3: 1. / 3}},
		{"off", engine.Sampling{Temperature: new(1.0), TopP: new(1.0), TypicalP: new(1.0)}, map[int32]float64{2: 0.5, 3: 0.25, 4: 0.125, 5: 0.125}},
		// Of the first two the surprisals are .41 and 1.10, the mean .64.
		{"of top_k", engine.Sampling{Temperature: new(1.0), TopP: new(1.0), TopK: new(2), TypicalP: new(0.5)}, map[int32]float64{2: 1}},
		{"then top_p", engine.Sampling{Temperature: new(1.0), TopP: new(0.6), TypicalP: new(0.6)}, map[int32]float64{2: 1}},
		{"then min_p", engine.Sampling{Temperature: new(1.0), TopP: new(1.0), MinP: new(0.6), TypicalP: new(0.6)}, map[int32]float64{2: 1}},
	} {
		got := spread(t, v, logits, chat.Job{Sampling: tt.sampling})
		for token := range int32(len(logits)) {
			if math.Abs(got[token]-tt.want[token]) > 0.015 {
				t.Errorf("%s: token %d has a probability of %.3f, want %.3f", tt.name, token, got[token], tt.want[token])
			}
		}
	}
}
