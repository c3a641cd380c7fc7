//go:build unix

package store

import (
	"strings"
	"syscall"
	"testing"
)

// TestListWaitsForNoPipe has something that is not a file.
func TestListWaitsForNoPipe(t *testing.T) {
	s := openTest(t, t.TempDir())
	putModel(t, s, "x", "weights")
	if err := syscall.Mkfifo(s.manifestPath(name(t, "x:pipe")), 0o644); err != nil {
		t.Fatal(err)
	}
	if models, err := s.List(t.Context()); err != nil || len(models) != 1 {
		t.Errorf("List gives %d models, %v", len(models), err)
	}
	if m, err := s.Model(name(t, "x:pipe")); err == nil || !strings.Contains(err.Error(), "it is not a file") {
		t.Errorf("Model gives %v, %v", m, err)
	}
}
