package decode

import (
	"cmp"
	"math"
	"slices"
)

// candidate is a token and its logit.
type candidate struct {
	token int32
	logit float32
}

// before orders candidates: the likelier first, of equals the lower number,
// so that the order never depends on how it was found.
func (c candidate) before(d candidate) bool {
	return c.logit > d.logit || c.logit == d.logit && c.token < d.token
}

// largest returns the token with the largest logit, -1 where all are NaN or
// minus infinity.
func largest(logits []float32) int32 {
	best, token := float32(math.Inf(-1)), int32(-1)
	for i, l := range logits {
		if l > best {
			best, token = l, int32(i)
		}
	}
	return token
}

// top returns the n likeliest candidates in order, in buf's memory where it
// suffices. It looks at each logit once: a heap keeps the n best with the
// worst of them on top, and almost every logit is below that one. Logits
// that are NaN or minus infinity are never chosen.
func top(logits []float32, n int, buf []candidate) []candidate {
	heap := buf[:0]
	bar := float32(math.Inf(-1))
	for i, l := range logits {
		if !(l > bar) { // written so that NaN stays out
			continue
		}
		c := candidate{int32(i), l}
		if len(heap) < n {
			heap = append(heap, c)
			up(heap)
		} else {
			heap[0] = c
			down(heap)
		}
		if len(heap) == n {
			bar = heap[0].logit
		}
	}
	slices.SortFunc(heap, byLikelihood)
	return heap
}

// byLikelihood is the order of [candidate.before].
func byLikelihood(a, b candidate) int {
	return cmp.Or(cmp.Compare(b.logit, a.logit), cmp.Compare(a.token, b.token))
}

// up moves the last element to its place.
func up(heap []candidate) {
	i := len(heap) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !heap[parent].before(heap[i]) {
			return
		}
		heap[parent], heap[i] = heap[i], heap[parent]
		i = parent
	}
}

// down moves the first element to its place.
func down(heap []candidate) {
	i := 0
	for {
		child := 2*i + 1
		if child >= len(heap) {
			return
		}
		if r := child + 1; r < len(heap) && heap[child].before(heap[r]) {
			child = r
		}
		if !heap[i].before(heap[child]) {
			return
		}
		heap[i], heap[child] = heap[child], heap[i]
		i = child
	}
}

// negligible is how far below the largest logit a token's weight no longer
// counts: e^-30 times a vocabulary of a million is below 1e-7.
const negligible = 30

// logSum is the logarithm of the sum of e^logit, over all logits that are
// not negligible beside the largest one.
func logSum(logits []float32, largest float32) float64 {
	sum := 0.0
	floor := largest - negligible
	for _, l := range logits {
		if l > floor {
			sum += math.Exp(float64(l - largest))
		}
	}
	return float64(largest) + math.Log(sum)
}
