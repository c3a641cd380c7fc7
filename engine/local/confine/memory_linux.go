//go:build linux && !race

package confine

import (
	"errors"
	"os"
	"regexp"
	"strconv"

	"golang.org/x/sys/unix"
)

// LimitMemory has the system refuse this process more than so many bytes of
// data, for good: what it writes to, not what it maps of files to read.
func LimitMemory(bytes int64) error {
	var now unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_DATA, &now); err != nil {
		return err
	}
	most := min(uint64(bytes), now.Max)
	return unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: most, Max: most})
}

// MemoryUsed is how much of what [LimitMemory] counts the process has, in bytes.
func MemoryUsed() (int64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	m := regexp.MustCompile(`(?m)^VmData:\s+(\d+) kB$`).FindSubmatch(status)
	if m == nil {
		return 0, errors.New("/proc/self/status does not say how much data there is")
	}
	kilobytes, err := strconv.ParseInt(string(m[1]), 10, 64)
	return kilobytes << 10, err
}
