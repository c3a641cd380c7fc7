// Package optional reads members of a request that may be left out. Absent
// and null mean the same in both documents, and neither means zero: a zero
// that was sent is obeyed.
package optional

import "github.com/oapi-codegen/nullable"

// Or returns the value, or the alternative where it is absent or null.
func Or[T any](n nullable.Nullable[T], alternative T) T {
	if v, err := n.Get(); err == nil {
		return v
	}
	return alternative
}

// Pointer returns the value, or nil where it is absent or null.
func Pointer[T any](n nullable.Nullable[T]) *T {
	if v, err := n.Get(); err == nil {
		return &v
	}
	return nil
}
