//go:build unix

package control

import (
	"io/fs"
	"os"
	"syscall"
)

// isForeign reports whether another user owns what info is of. That the
// administrator does is no danger: there is nothing that they cannot read.
func isForeign(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Uid != 0 && int(stat.Uid) != os.Geteuid()
}
