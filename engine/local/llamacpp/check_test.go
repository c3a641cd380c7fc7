package llamacpp

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/diglot/diglot/engine/gguf"
)

func TestCheck(t *testing.T) {
	dir := t.TempDir()
	for _, tt := range []struct{ name, content string }{
		{"empty", ""},
		{"something else", "GIF89a and more than a head of bytes"},
		{"cut short", gguf.Magic + "\x03\x00\x00\x00\x01"},
	} {
		path := filepath.Join(dir, tt.name)
		if err := os.WriteFile(path, []byte(tt.content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := Check(path); err == nil {
			t.Errorf("%s: no error", tt.name)
		}
	}
	if err := CheckProjector("", ""); err != nil {
		t.Errorf("no projector: %v", err)
	}
	if err := Check(dir); err == nil {
		t.Error("a folder: no error")
	}
	if err := Check(filepath.Join(dir, "missing")); err == nil {
		t.Error("a missing file: no error")
	}
}
