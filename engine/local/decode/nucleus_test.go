package decode

import (
	"math"
	"slices"
	"testing"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/chat"
)

// TestNucleus: what is left is what sorting the whole vocabulary leaves.
func TestNucleus(t *testing.T) {
	for _, width := range []float32{0.05, 0.5, 1, 3, 20} {
		for seed := range uint64(20) {
			logits := noise(seed, 3000)
			for i := range logits {
				logits[i] *= width
			}
			logits[7], logits[8] = float32(math.NaN()), float32(math.Inf(-1))
			logits[9] = logits[10] // equal ones
			for _, tt := range []struct{ topP, minP float64 }{
				{0, 0}, {0.1, 0}, {0.5, 0}, {0.9, 0}, {0.99999, 0}, {1, 0.5}, {1, 0.05}, {1, 1e-9}, {1, 1}, {0.9, 0.1}, {0.999, 1e-4},
			} {
				s := newSampler(nil, chat.Job{Sampling: engine.Sampling{Temperature: new(1.0), TopP: new(tt.topP), MinP: new(tt.minP)}})
				got := s.nucleus(logits)
				all := top(logits, len(logits), nil)
				want, rounded := s.truncate(all, weight(all)), s.truncate(all, weight(all)*(1-1e-8))
				if !slices.Equal(got, want) && !slices.Equal(got, rounded) {
					t.Errorf("width %v, seed %d, top_p %v, min_p %v: %d candidates are left, want %d or %d", width, seed, tt.topP, tt.minP, len(got), len(want), len(rounded))
				}
			}
		}
	}
}

// TestNucleusOfNothing: logits that are not numbers leave nothing, or one token.
func TestNucleusOfNothing(t *testing.T) {
	nan, least, most := float32(math.NaN()), float32(math.Inf(-1)), float32(math.Inf(1))
	for _, tt := range []struct {
		logits []float32
		want   int32
	}{
		{[]float32{nan, least, nan}, -1},
		{[]float32{nan, 3, least}, 1},
		{[]float32{0, most, 5}, 1},
	} {
		for _, topP := range []float64{0, 0.5, 1} {
			s := newSampler(nil, chat.Job{Sampling: engine.Sampling{Temperature: new(1.0), TopP: new(topP)}})
			if got := s.pick(tt.logits, 0.5); got != tt.want {
				t.Errorf("%v, top_p %v: token %d, want %d", tt.logits, topP, got, tt.want)
			}
		}
	}
}

// TestPickUntruncated: the share of the random numbers that pick a token is its
// probability.
func TestPickUntruncated(t *testing.T) {
	logits := []float32{1, float32(math.NaN()), 2, 2, -3, float32(math.Inf(-1)), 0.5, -400}
	for _, temperature := range []float64{0.3, 1, 2} {
		s := newSampler(nil, chat.Job{Sampling: engine.Sampling{Temperature: new(temperature)}})
		known := map[int32]float64{}
		for i, l := range logits {
			if l > -400 {
				known[int32(i)] = float64(l)
			}
		}
		want, got := softmax(known, temperature), map[int32]float64{}
		const n = 100_000
		for i := range n {
			got[s.pick(logits, (float64(i)+0.5)/n)] += 1.0 / n
		}
		for i := range logits {
			if token := int32(i); math.Abs(got[token]-want[token]) > 1e-4 {
				t.Errorf("temperature %v: token %d has a share of %v, want %v", temperature, token, got[token], want[token])
			}
		}
	}
}

func TestExpOfMinus(t *testing.T) {
	for x := 0.0; x < 700; x += 0.0137 {
		if got, want := expOfMinus(x), math.Exp(-x); math.Abs(got-want) > 1e-8*want {
			t.Fatalf("exp(-%v) is %v, want %v", x, got, want)
		}
	}
}
