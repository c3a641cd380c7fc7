//go:build unix

package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// someone is a user without rights. A test that runs as the root of a
// machine, who may write everything, lets a child become that user.
const someone = 65534

// TestStoreOfAnotherUser is a store that may be read and not be written. The
// verbs run in a child.
func TestStoreOfAnotherUser(t *testing.T) {
	dir := t.TempDir()
	prepareStore(t, dir)
	o := order{Dir: dir, Verb: "write what may only be read"}
	if os.Geteuid() == 0 {
		o.User = someone
	}
	setRights(t, dir, 0o555)
	t.Cleanup(func() { setRights(t, dir, 0o755) })
	for above := filepath.Dir(dir); above != filepath.Clean(os.TempDir()); above = filepath.Dir(above) {
		if err := os.Chmod(above, 0o755); err != nil { // which is the test's own
			t.Fatal(err)
		}
	}
	if killed, _ := start(t, o)(); killed {
		t.Error("the child was killed")
	}
}

func setRights(t *testing.T, dir string, mode fs.FileMode) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			err = os.Chmod(path, mode)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// writeWhatMayOnlyBeRead is nil where the store can be read, and each verb
// that writes says that it may not.
func writeWhatMayOnlyBeRead(ctx context.Context, s *Store, _ order) error {
	wrong := s.checkWhole(before)
	for _, v := range verbs() {
		err := v.run(ctx, s)
		if !errors.Is(err, ErrReadOnly) || !errors.Is(err, fs.ErrPermission) ||
			!strings.HasSuffix(err.Error(), "the model store "+s.Dir()+" is read-only for this user: its models can be served, but not changed") {
			wrong = errors.Join(wrong, fmt.Errorf("%s: the error is %w", v.name, err))
		}
	}
	return wrong
}

func TestOpenRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "x")
	for _, test := range []struct{ dir, want string }{
		{"", "the directory of the model store is not set"},
		{file, "is a file, not a directory"},
		{filepath.Join(file, "below"), "open the model store"},
	} {
		if _, err := Open(Options{Dir: test.dir}); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: the error is %v", test.dir, err)
		}
	}
}

// TestStoreThatIsNotThere is read without being made.
func TestStoreThatIsNotThere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not", "there")
	s := openTest(t, dir)
	if models, err := s.List(t.Context()); err != nil || len(models) != 0 {
		t.Errorf("List gives %v, %v", models, err)
	}
	if _, err := s.Model(name(t, "x")); !errors.Is(err, ErrNotFound) {
		t.Errorf("Model gives %v", err)
	}
	if err := s.Remove(t.Context(), name(t, "x")); !errors.Is(err, ErrNotFound) {
		t.Errorf("Remove gives %v", err)
	}
	if exists(dir) {
		t.Error("the directory was made")
	}
	putModel(t, s, "x", "weights")
	if err := checkStore(s, map[string]string{"x": "weights"}, nil); err != nil {
		t.Error(err)
	}
}
