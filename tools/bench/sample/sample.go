// Package sample sums up what was measured in several rounds: by medians and quartiles,
// since a machine that others share has rounds that say nothing. A round without a value
// is NaN.
package sample

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// Summary describes the values of some rounds.
type Summary struct {
	Rounds        int     `json:"rounds"` // with a value
	Median        float64 `json:"median"`
	LowerQuartile float64 `json:"lower_quartile"`
	UpperQuartile float64 `json:"upper_quartile"`
	Minimum       float64 `json:"minimum"`
	Maximum       float64 `json:"maximum"`
}

// Summarize leaves out rounds without a value. Without any, all is zero.
func Summarize(values []float64) Summary {
	sorted := slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	if len(sorted) == 0 {
		return Summary{}
	}
	slices.Sort(sorted)
	return Summary{
		Rounds: len(sorted),
		Median: quantile(sorted, 0.5), LowerQuartile: quantile(sorted, 0.25), UpperQuartile: quantile(sorted, 0.75),
		Minimum: sorted[0], Maximum: sorted[len(sorted)-1],
	}
}

// quantile interpolates between the two nearest of sorted values.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	below := int(at)
	above := min(below+1, len(sorted)-1)
	return sorted[below] + (at-float64(below))*(sorted[above]-sorted[below])
}

// Ratios divides values by those of the same rounds, whose two sides were measured
// shortly after each other.
func Ratios(values, base []float64) []float64 {
	ratios := make([]float64, min(len(values), len(base)))
	for i := range ratios {
		ratios[i] = math.NaN()
		if base[i] != 0 {
			ratios[i] = values[i] / base[i]
		}
	}
	return ratios
}

// Arrivals returns when n requests arrive, from the first on, at random with the given
// mean distance. The same seed gives the same times.
func Arrivals(seed uint64, n int, mean time.Duration) []time.Duration {
	random := rand.New(rand.NewPCG(seed, uint64(n)))
	times := make([]time.Duration, n)
	for i := 1; i < n; i++ {
		times[i] = times[i-1] + time.Duration(random.ExpFloat64()*float64(mean))
	}
	return times
}
