//go:build linux && !race

package confine

import (
	"errors"
	"os"
	"regexp"
	"strconv"

	"golang.org/x/sys/unix"
)

// LimitMemory sets RLIMIT_DATA for good. It counts private writable memory, not files
// that are mapped to read.
func LimitMemory(bytes int64) error {
	var now unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_DATA, &now); err != nil {
		return err
	}
	most := min(uint64(bytes), now.Max)
	return unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: most, Max: most})
}

// MemoryUsed returns how many bytes of the limit of [LimitMemory] are used.
func MemoryUsed() (int64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	m := regexp.MustCompile(`(?m)^VmData:\s+(\d+) kB$`).FindSubmatch(status)
	if m == nil {
		return 0, errors.New("/proc/self/status has no VmData")
	}
	kilobytes, err := strconv.ParseInt(string(m[1]), 10, 64)
	return kilobytes << 10, err
}
