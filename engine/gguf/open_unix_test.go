//go:build unix

package gguf

import (
	"path/filepath"
	"syscall"
	"testing"
)

// TestOpenPipe has a model file that nobody writes to: opening it would wait
// forever.
func TestOpenPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.gguf")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); err == nil || err.Error() != "not a regular file" {
		t.Errorf("error %v, want not a regular file", err)
	}
}
