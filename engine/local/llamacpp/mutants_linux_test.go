//go:build llamacpp && cgo

package llamacpp

import (
	"syscall"
	"testing"
)

// limitMemory keeps a file that claims much from taking the machine.
func limitMemory(t *testing.T) {
	const most = 12 << 30
	if err := syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: most, Max: most}); err != nil {
		t.Fatal(err)
	}
}
