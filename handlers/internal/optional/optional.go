// Package optional reads optional request fields. Absent and null mean the same in both
// documents, and neither means zero: a zero that was sent counts.
package optional

import (
	"math"

	"github.com/oapi-codegen/nullable"
)

// Or returns the value, or the alternative if it is absent or null.
func Or[T any](n nullable.Nullable[T], alternative T) T {
	if v, err := n.Get(); err == nil {
		return v
	}
	return alternative
}

// Set overwrites a default if a value is given.
func Set[T any](to *T, n nullable.Nullable[T]) {
	if v, err := n.Get(); err == nil {
		*to = v
	}
}

// Count returns the number, or nil if absent or null. A number beyond int means no limit,
// so it is capped.
func Count(n nullable.Nullable[int64]) *int {
	if v, err := n.Get(); err == nil {
		return new(Bound(v))
	}
	return nil
}

// Bound caps a number at the largest int.
func Bound(n int64) int { return int(min(n, math.MaxInt32)) }

// Pointer returns the value, or nil if absent or null.
func Pointer[T any](n nullable.Nullable[T]) *T {
	if v, err := n.Get(); err == nil {
		return &v
	}
	return nil
}
