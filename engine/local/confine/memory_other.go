//go:build !linux || race

package confine

import "errors"

// LimitMemory does nothing: other systems have no such limit, and the race detector
// needs more than any.
func LimitMemory(int64) error { return errors.ErrUnsupported }

// MemoryUsed is not supported.
func MemoryUsed() (int64, error) { return 0, errors.ErrUnsupported }
