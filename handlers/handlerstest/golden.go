package handlerstest

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Golden compares got with a file in testdata, or writes it if -update is set.
func Golden(t *testing.T, update *bool, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs; run with -update if the new one is right\n-want +got\n%s", path, diff)
	}
}

// UpdateFlag defines the flag -update of a test binary.
func UpdateFlag() *bool { return flag.Bool("update", false, "write golden files anew") }
