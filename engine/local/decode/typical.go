package decode

import (
	"cmp"
	"math"
	"slices"
)

// typical keeps the candidates whose surprisal is closest to the entropy, until
// their probabilities exceed p (Meister et al., Locally Typical Sampling). It
// works in place, returns them ordered by logit and keeps at least one.
func typical(ordered []candidate, p float64) []candidate {
	if len(ordered) == 0 {
		return nil
	}
	norm := math.Log(weight(ordered)) + float64(ordered[0].logit)
	surprisal := func(c candidate) float64 { return norm - float64(c.logit) }
	entropy := 0.0
	for _, c := range ordered {
		if p := math.Exp(-surprisal(c)); p > 0 { // 0 times infinity is NaN
			entropy += p * surprisal(c)
		}
	}
	slices.SortStableFunc(ordered, func(a, b candidate) int {
		return cmp.Compare(math.Abs(surprisal(a)-entropy), math.Abs(surprisal(b)-entropy))
	})
	kept, sum := 0, 0.0
	for kept < len(ordered) && sum <= p {
		sum += math.Exp(-surprisal(ordered[kept]))
		kept++
	}
	ordered = ordered[:kept]
	slices.SortFunc(ordered, byLogit)
	return ordered
}
