//go:build unix

package llamacpp

import (
	"path/filepath"
	"syscall"
	"testing"
)

// TestInspectPipe has a model file that nobody writes to: opening it would
// wait forever.
func TestInspectPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.gguf")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := inspect(path); err == nil || err.Error() != "not a file" {
		t.Errorf("error %v, want that it is not a file", err)
	}
}
