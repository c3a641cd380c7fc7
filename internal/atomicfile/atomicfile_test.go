package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// directory lists the files in a directory with their content.
func directory(t *testing.T, path string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(path)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(path, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = string(text)
	}
	return files
}

// content is "new", and then an error.
type content struct{ err error }

func (c content) WriteTo(w io.Writer) (int64, error) {
	n, err := io.WriteString(w, "new")
	return int64(n), errors.Join(err, c.err)
}

func TestWrite(t *testing.T) {
	failed := errors.New("failed")
	for _, tt := range []struct {
		name string
		mode fs.FileMode
		err  error // of the writer, in the middle
		want map[string]string
	}{
		{"for all", 0o644, nil, map[string]string{"f": "new"}},
		{"for the user", 0o600, nil, map[string]string{"f": "new"}},
		{"failed", 0o600, failed, map[string]string{"f": "old"}},
	} {
		path := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(path, []byte("old"), 0o640); err != nil {
			t.Fatal(err)
		}
		err := Write(path, tt.mode, content{tt.err})
		if !errors.Is(err, tt.err) {
			t.Errorf("%s: error %v", tt.name, err)
		}
		if diff := cmp.Diff(tt.want, directory(t, filepath.Dir(path))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		if info, err := os.Stat(path); err != nil || tt.err == nil && info.Mode().Perm() != tt.mode {
			t.Errorf("%s: mode %v, error %v", tt.name, info.Mode(), err)
		}
	}
}

// TestSettle ends before each of its steps: the name has the old content up to
// the rename, and a content has no name before it is on disk.
func TestSettle(t *testing.T) {
	var steps []string
	for stop := range 4 {
		path := filepath.Join(t.TempDir(), "f")
		f, err := os.Create(path + ".part")
		if err != nil {
			t.Fatal(err)
		}
		steps = nil
		forbidden := errors.New("no further")
		err = Settle(f, path, 0o600, func(step, at string) error {
			if len(steps) == stop {
				return forbidden
			}
			steps = append(steps, step+" "+filepath.Base(at))
			return nil
		})
		_, missing := os.Stat(path)
		if named := missing == nil; named != (stop > 1) || errors.Is(err, forbidden) != (stop < 3) {
			t.Errorf("after %q: named %t, error %v", steps, named, err)
		}
		if err := f.Close(); !errors.Is(err, os.ErrClosed) {
			t.Errorf("after %q: the file is open", steps)
		}
	}
	if got := strings.Join(steps[:2], ", "); got != "sync f.part, rename f.part" || !strings.HasPrefix(steps[2], "sync ") {
		t.Errorf("steps %q", steps)
	}
}

func TestSweep(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"f", ".f-123", ".g-123", "f-123"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := Sweep(filepath.Join(dir, "f")); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(map[string]string{"f": "", ".g-123": "", "f-123": ""}, directory(t, dir)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
