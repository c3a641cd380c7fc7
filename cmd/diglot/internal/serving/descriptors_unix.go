//go:build unix

package serving

import "syscall"

// descriptors is how many files and connections this process may have open.
func descriptors() uint64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 256
	}
	return uint64(limit.Cur) // of another type on some systems
}
