package decode

import (
	"iter"
	"math"
	"slices"
)

// Sampling from a whole vocabulary without sorting it: tokens are counted in bins, by
// how far they are below the most likely one. So top_p finds its end, and a random
// number its bin, without an exponential function per token.

// Bins are so narrow that a short polynomial weighs the tokens of one.
const (
	binsPerUnit = 64
	binCount    = negligible * binsPerUnit
)

// bins are the tokens of a vocabulary by bin.
type bins struct {
	weights [binCount]float64 // of the bin's tokens, relative to its upper end
	next    [binCount]int32   // first the number of tokens, then where the next one goes
}

// bin is that of a token so far below the most likely one, and -1 beyond the last; rest
// is the weight in it.
func bin(below float64) (i int, weight float64) {
	if !(below < negligible) { // true for NaN
		return -1, 0
	}
	i = int(below * binsPerUnit)
	r := below - float64(i)/binsPerUnit
	return i, 1 - r*(1-r*(1.0/2-r*(1.0/6))) // exp(-r) to 3e-9
}

// fill counts the tokens. Their distances are multiplied by scale.
func (b *bins) fill(logits []float32, largest float32, scale float64) {
	clear(b.weights[:])
	clear(b.next[:])
	for _, l := range logits {
		if i, w := bin(float64(largest-l) * scale); i >= 0 {
			b.weights[i] += w
			b.next[i]++
		}
	}
}

// total is the weight of all tokens, relative to the most likely one.
func (b *bins) total() float64 {
	total := 0.0
	for w, scale := range b.each() {
		total += w * scale
	}
	return total
}

// at is the bin at which the weight of all bins up to it exceeds so much, and what is
// left of that weight in the bin, relative to its upper end.
func (b *bins) at(weight float64) (i int, rest float64) {
	for w, scale := range b.each() {
		if weight < w*scale {
			return i, weight / scale
		}
		weight -= w * scale
		i++
	}
	return binCount - 1, 0
}

// each yields the weight of each bin and of the bin's upper end.
func (b *bins) each() iter.Seq2[float64, float64] {
	return func(yield func(weight, scale float64) bool) {
		step, scale := math.Exp(-1.0/binsPerUnit), 1.0
		for _, w := range b.weights {
			if !yield(w, scale) {
				return
			}
			scale *= step
		}
	}
}

// candidates returns the tokens of the first n bins in order, in buf's memory if it
// suffices.
func (b *bins) candidates(logits []float32, largest float32, n int, buf []candidate) []candidate {
	size := int32(0)
	for i, count := range b.next[:n] {
		b.next[i] = size
		size += count
	}
	buf = slices.Grow(buf[:0], int(size))[:size]
	limit := float32(n) / binsPerUnit
	for token, l := range logits {
		if below := largest - l; below < limit {
			at := &b.next[int(below*binsPerUnit)]
			buf[*at] = candidate{int32(token), l}
			*at++
		}
	}
	first := int32(0)
	for _, end := range b.next[:n] {
		slices.SortFunc(buf[first:end], byLogit)
		first = end
	}
	return buf
}

// nucleus returns what top_p and min_p leave, the most likely first.
func (s *sampler) nucleus(logits []float32) []candidate {
	best := argmax(logits)
	if best < 0 {
		return nil
	}
	largest, topP, minP := logits[best], *s.settings.TopP, *s.settings.MinP
	total := 1.0
	if topP < 1 {
		b := s.count(logits, largest, 1)
		total = b.total()
		last, _ := b.at(topP * total)
		s.buf = b.candidates(logits, largest, last+1, s.buf)
	} else {
		s.buf = above(logits, largest-float32(-math.Log(minP))-1, s.buf)
	}
	if len(s.buf) == 0 { // the largest is infinite
		s.buf = append(s.buf, candidate{best, largest})
	}
	return s.truncate(s.buf, total)
}

// above returns the candidates above a logit in order, in buf's memory if it suffices.
func above(logits []float32, bar float32, buf []candidate) []candidate {
	buf = buf[:0]
	for i, l := range logits {
		if l > bar {
			buf = append(buf, candidate{int32(i), l})
		}
	}
	slices.SortFunc(buf, byLogit)
	return buf
}

// pickUntruncated samples from the whole vocabulary.
func (s *sampler) pickUntruncated(logits []float32, best int32, u float64) int32 {
	largest, scale := logits[best], 1 / *s.settings.Temperature
	b := s.count(logits, largest, scale)
	at, rest := b.at(u * b.total())
	for token, l := range logits {
		if i, w := bin(float64(largest-l) * scale); i == at {
			if rest -= w; rest < 0 {
				return int32(token)
			}
		}
	}
	return best // rounding error: u was next to the end of a bin
}

// count fills the sampler's bins.
func (s *sampler) count(logits []float32, largest float32, scale float64) *bins {
	if s.bins == nil {
		s.bins = new(bins)
	}
	s.bins.fill(logits, largest, scale)
	return s.bins
}

// expOfMinus is exp(-x) to 1e-9 for x between 0 and 700, in a third of the time of
// math.Exp.
func expOfMinus(x float64) float64 {
	k := int64(x*math.Log2E + 0.5)
	r := float64(k)*math.Ln2 - x
	p := 1 + r*(1+r*(1.0/2+r*(1.0/6+r*(1.0/24+r*(1.0/120+r*(1.0/720+r*(1.0/5040)))))))
	return p * math.Float64frombits(uint64(1023-k)<<52)
}
