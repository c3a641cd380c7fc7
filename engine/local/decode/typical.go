package decode

import (
	"cmp"
	"math"
	"slices"
)

// typical keeps of the ordered candidates those whose surprise is nearest to
// the mean one (Meister et al., Locally Typical Sampling), until their
// probabilities pass p. It works in the candidates' memory and leaves them
// ordered; at least one stays.
func typical(ordered []candidate, p float64) []candidate {
	if len(ordered) == 0 {
		return nil
	}
	norm := math.Log(weight(ordered)) + float64(ordered[0].logit)
	surprise := func(c candidate) float64 { return norm - float64(c.logit) }
	entropy := 0.0
	for _, c := range ordered {
		if p := math.Exp(-surprise(c)); p > 0 { // what cannot be surprises without end
			entropy += p * surprise(c)
		}
	}
	slices.SortStableFunc(ordered, func(a, b candidate) int {
		return cmp.Compare(math.Abs(surprise(a)-entropy), math.Abs(surprise(b)-entropy))
	})
	kept, sum := 0, 0.0
	for kept < len(ordered) && sum <= p {
		sum += math.Exp(-surprise(ordered[kept]))
		kept++
	}
	ordered = ordered[:kept]
	slices.SortFunc(ordered, byLikelihood)
	return ordered
}
