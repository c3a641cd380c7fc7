package build

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheckOwners needs files of two users. Those of root are trusted anyway, so the
// program is the one that belongs to another user, where a test may make it so.
func TestCheckOwners(t *testing.T) {
	root := t.TempDir()
	own, path := filepath.Join(root, "bin", "diglot"), filepath.Join(root, "lib", "diglot", "v", "diglot")
	for _, name := range []string{own, path} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := checkOwners(path, root, own); err != nil {
		t.Errorf("files of one user: %v", err)
	}
	if err := checkOwners(path+"x", root, own); err == nil {
		t.Error("a missing file is trusted")
	}
	for _, foreign := range []string{path, filepath.Dir(path), filepath.Join(root, "lib")} {
		if err := os.Lchown(foreign, 12345, -1); err != nil {
			t.Logf("only root can give files away: %v", err)
			return
		}
		if err := checkOwners(path, root, own); err == nil || !strings.Contains(err.Error(), foreign+" belongs to user 12345") {
			t.Errorf("%s is a stranger's: error %v", foreign, err)
		}
		if err := os.Lchown(foreign, os.Getuid(), -1); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Lchown(own, 12345, -1); err != nil {
		t.Fatal(err)
	}
	if err := checkOwners(path, root, own); err != nil {
		t.Errorf("files of root beside a user's program: %v", err)
	}
}
