//go:build unix

package fault

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestNamedPipe(t *testing.T) {
	folder := t.TempDir()
	pipe := filepath.Join(folder, "pipe.yaml")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(pipe); err == nil || !strings.Contains(err.Error(), "pipe.yaml: not a regular file") {
		t.Errorf("error %v", err)
	}
}
