//go:build unix

package store

import (
	"os"
	"syscall"
)

// sameDevice reports whether a file can be renamed from one folder to the other.
// A folder that does not exist yet will be on its parent's file system.
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
