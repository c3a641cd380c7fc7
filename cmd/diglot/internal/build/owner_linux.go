package build

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// checkOwners reports what of a path below a folder belongs to another user than the
// program own does, who could replace it. Root can anyway.
func checkOwners(path, below, own string) error {
	trusted, err := owner(own)
	if err != nil {
		return err
	}
	for ; path != below; path = filepath.Dir(path) {
		uid, err := owner(path)
		if err != nil {
			return err
		}
		if uid != trusted && uid != 0 {
			return fmt.Errorf("%s belongs to user %d, but %s to user %d", path, uid, own, trusted)
		}
	}
	return nil
}

// owner is the owner of a file, a folder or a link.
func owner(path string) (uint32, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return 0, err
	}
	return info.Sys().(*syscall.Stat_t).Uid, nil // its type on Linux
}
