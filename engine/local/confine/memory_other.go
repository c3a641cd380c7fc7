//go:build !linux || race

package confine

import "errors"

// LimitMemory does nothing here: the systems have no such limit, and the race
// detector takes more than any.
func LimitMemory(int64) error { return errors.ErrUnsupported }

// MemoryUsed is not known here.
func MemoryUsed() (int64, error) { return 0, errors.ErrUnsupported }
