package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/diglot/diglot/cmd/diglot/internal/exit"
)

// TestStoreThatDoesNotExist is said where the user named it, and changes
// nothing else.
func TestStoreThatDoesNotExist(t *testing.T) {
	u := newUser(t)
	if _, _, stderr := u.do("list"); stderr != "" {
		t.Errorf("the usual store: %q", stderr)
	}
	dir := filepath.Join(u.home, "nope")
	u.variables["DIGLOT_MODELS"] = dir
	want := "the model store " + dir + " does not exist yet\n"
	if status, stdout, stderr := u.do("list", "--json"); status != 0 || stdout != "[]\n" || stderr != want {
		t.Errorf("list: status %d, printed %q and %q", status, stdout, stderr)
	}
	if status, _, stderr := u.do("show", "m"); status != exit.NotFound || !strings.HasPrefix(stderr, want) {
		t.Errorf("show: status %d, printed %q", status, stderr)
	}
	if _, _, stderr := u.do("__complete", "show", ""); strings.Contains(stderr, dir) {
		t.Errorf("a shell that completes is told: %q", stderr)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, _, stderr := u.do("list"); stderr != "" {
		t.Errorf("an empty store: %q", stderr)
	}
}

// TestModelOfTheServerAlone is one that a flag named: the verbs of the store do
// not have it, and say why.
func TestModelOfTheServerAlone(t *testing.T) {
	u := newUser(t)
	u.serve("--script", u.write("script.yaml", twoModels))
	for _, args := range [][]string{{"show", "m"}, {"cp", "m", "other"}} {
		status, _, stderr := u.do(args...)
		if status != exit.NotFound || !strings.Contains(stderr, "m: no such model (the running server has it from a flag") {
			t.Errorf("%q: status %d, printed %q", args, status, stderr)
		}
	}
	if status, _, stderr := u.do("show", "n"); status != exit.NotFound || strings.Contains(stderr, "server") {
		t.Errorf("nobody's model: status %d, printed %q", status, stderr)
	}
}
