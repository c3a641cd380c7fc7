package main

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/cmd/diglot/internal/exit"
)

// TestCreateOfAGGUFFile makes the model that a FROM line makes, from wherever
// the command runs.
func TestCreateOfAGGUFFile(t *testing.T) {
	u := newUser(t)
	u.model("want", "")
	file := filepath.Join(u.home, "tiny.gguf")
	want := u.must("show", "want", "--modelfile")
	for _, tt := range []struct {
		name string
		args []string
	}{
		{"flag", []string{"create", "m", "-f", file}},
		{"argument", []string{"create", "m", file}},
		{"definition as an argument", []string{"create", "m", filepath.Join(u.home, "tiny.modelfile")}},
	} {
		u.must(tt.args...)
		got := strings.ReplaceAll(u.must("show", "m", "--modelfile"), "FROM m\n", "FROM want\n")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		u.must("rm", "m")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, stdin string
		args        []string
		status      int
		want        string
	}{
		{"piped", string(text), []string{"create", "m", "-f", "-"}, exit.Failure, "diglot create NAME FILE.gguf"},
		{"short", "GG", []string{"create", "m", "-f", "-"}, exit.Failure, "standard input: line 1: "},
		{"cut off", "", []string{"create", "m", u.write("cut", "GGUF\x03\x00")}, exit.Failure, "FROM ./cut: "},
		{"two files", "", []string{"create", "m", file, "-f", file}, exit.BadUsage, "give one file"},
		{"a directory", "", []string{"create", "m", u.home}, exit.Failure, "is a directory; give a file"},
		{"no file", "", []string{"create", "m", file + "x"}, exit.Failure, "no such file: " + file + "x"},
	} {
		u.stdin = strings.NewReader(tt.stdin)
		status, _, stderr := u.do(tt.args...)
		if status != tt.status || !strings.Contains(stderr, tt.want) {
			t.Errorf("%s: status %d, want %d and %q in\n%s", tt.name, status, tt.status, tt.want, stderr)
		}
	}
}

// TestCreateFromAMistypedName says that there is no such model before it asks
// a registry, and again when that has none.
func TestCreateFromAMistypedName(t *testing.T) {
	registry := httptest.NewServer(newMemoryRegistry())
	defer registry.Close()
	u := newUser(t)
	name := strings.TrimPrefix(registry.URL, "http://") + "/team/nosuch"
	status, _, stderr := u.do("create", "m", "-f", u.write("f", "FROM "+name))
	first, rest, _ := strings.Cut(stderr, "\n")
	if status != exit.NotFound || first != name+" is not on this machine; pulling it" || !strings.Contains(rest, name+" is not on this machine and could not be pulled: ") {
		t.Errorf("status %d\n%s", status, stderr)
	}
}
