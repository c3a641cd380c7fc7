//go:build unix

package store

import (
	"os"
	"syscall"
)

// sameDevice reports whether files can be renamed between two directories. A
// missing one will be created on its parent's file system.
func sameDevice(dir, below string) bool {
	a, errA := os.Stat(dir)
	b, errB := os.Stat(below)
	if errA != nil || errB != nil {
		return true
	}
	x, okX := a.Sys().(*syscall.Stat_t)
	y, okY := b.Sys().(*syscall.Stat_t)
	return !okX || !okY || x.Dev == y.Dev
}
