// Package optional reads members of a request that may be left out. Absent
// and null mean the same in both documents, and neither means zero: a zero
// that was sent is obeyed.
package optional

import (
	"math"

	"github.com/oapi-codegen/nullable"
)

// Or returns the value, or the alternative where it is absent or null.
func Or[T any](n nullable.Nullable[T], alternative T) T {
	if v, err := n.Get(); err == nil {
		return v
	}
	return alternative
}

// Set sets what has a default where another value is given.
func Set[T any](to *T, n nullable.Nullable[T]) {
	if v, err := n.Get(); err == nil {
		*to = v
	}
}

// Count returns the number, or nil where it is absent or null. One that is
// larger than a count can be, on any machine, is the largest: it means as much
// as there is.
func Count(n nullable.Nullable[int64]) *int {
	if v, err := n.Get(); err == nil {
		return new(Bound(v))
	}
	return nil
}

// Bound is a number that was sent, or the largest that a count can be.
func Bound(n int64) int { return int(min(n, math.MaxInt32)) }

// Pointer returns the value, or nil where it is absent or null.
func Pointer[T any](n nullable.Nullable[T]) *T {
	if v, err := n.Get(); err == nil {
		return &v
	}
	return nil
}
