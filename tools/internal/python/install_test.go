package python

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestInstall has a pip that fails at first, and counts.
func TestInstall(t *testing.T) {
	folder := t.TempDir()
	in := func(name string) string { return filepath.Join(folder, name) }
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(in(name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", folder+string(os.PathListSeparator)+os.Getenv("PATH"))
	pip := func(status string) string {
		return "#!/bin/sh\necho ran >>" + in("runs") + "\nmkdir -p " + in("to") + "\ntouch " + in("to/half") + "\nexit " + status + "\n"
	}
	for _, step := range []struct {
		name, wanted, status string
		runs                 int
		fails                bool
	}{
		{"it fails halfway", "a==1", "1", 1, true},
		{"what is there is half of it", "a==1", "0", 2, false},
		{"all is there", "a==1", "1", 2, false},
		{"another version is wanted", "a==2", "0", 3, false},
	} {
		write("requirements.txt", step.wanted)
		write("python3", pip(step.status))
		got, err := Install(t.Context(), io.Discard, in("requirements.txt"), in("to"))
		runs, _ := os.ReadFile(in("runs"))
		if (err != nil) != step.fails || strings.Count(string(runs), "ran") != step.runs || err == nil && got != in("to") {
			t.Errorf("%s: %q, error %v, pip ran: %q", step.name, got, err, runs)
		}
	}
}
