package main

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestNamedPipes holds that a named pipe with nobody at its other end is an
// error, and no wait for ever.
func TestNamedPipes(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	good := write(t, "good.yaml", "models: {m: {replies: [{pieces: [hello]}]}}")
	for _, tt := range []struct{ name, want string }{
		{"--script", "the script is empty"},
		{"--trace", "pipe: no such device or address"},
	} {
		status, _, stderr := execute(t.Context(), "serve", "--script", good, "--socket", "none", tt.name, pipe)
		if status != 1 || !strings.Contains(stderr, tt.want) {
			t.Errorf("%s: status %d, %q; want 1 and %q", tt.name, status, stderr, tt.want)
		}
	}
}
