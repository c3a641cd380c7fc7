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

// before orders candidates by falling logit, then by token.
func (c candidate) before(d candidate) bool {
	return c.logit > d.logit || c.logit == d.logit && c.token < d.token
}

// argmax returns the token with the largest logit; -1 if all are NaN or minus
// infinity.
func argmax(logits []float32) int32 {
	best, token := float32(math.Inf(-1)), int32(-1)
	for i, l := range logits {
		if l > best {
			best, token = l, int32(i)
		}
	}
	return token
}

// top returns the top n candidates in order, in buf's memory if it suffices. It
// keeps them in a min-heap, as almost all logits are below its root. Logits that
// are NaN or minus infinity are left out.
func top(logits []float32, n int, buf []candidate) []candidate {
	heap := buf[:0]
	bar := float32(math.Inf(-1))
	for i, l := range logits {
		if !(l > bar) { // true for NaN
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
	slices.SortFunc(heap, byLogit)
	return heap
}

// byLogit is the order of [candidate.before].
func byLogit(a, b candidate) int {
	return cmp.Or(cmp.Compare(b.logit, a.logit), cmp.Compare(a.token, b.token))
}

// up restores the heap after its last element was added.
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

// down restores the heap after its first element was replaced.
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

// negligible is how far below the largest logit a token's weight is ignored:
// e^-30 times a vocabulary of a million is below 1e-7.
const negligible = 30

// logSum is log(sum(exp(logits))) without the negligible ones.
func logSum(logits []float32, largest float32) float64 {
	sum := 0.0
	floor := largest - negligible
	for _, l := range logits {
		if l > floor {
			sum += expOfMinus(float64(largest - l))
		}
	}
	return float64(largest) + math.Log(sum)
}
