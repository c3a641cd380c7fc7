//go:build unix

package cassette_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/diglot/diglot/internal/cassette"
)

func TestNamedPipe(t *testing.T) {
	folder := t.TempDir()
	pipe := filepath.Join(folder, "pipe.yaml")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{folder, pipe} {
		if _, err := cassette.Read(name); err == nil || err.Error() != "pipe.yaml: not a regular file" {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
