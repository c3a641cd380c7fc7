//go:build unix

package serving

import "syscall"

// descriptors is the open file limit of this process.
func descriptors() uint64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 256
	}
	return uint64(limit.Cur) // of another type on some systems
}
