package sdcpp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/engine"
)

func TestFind(t *testing.T) {
	dir := t.TempDir()
	file := func(path ...string) string {
		all := filepath.Join(append([]string{dir}, path...)...)
		if err := os.MkdirAll(filepath.Dir(all), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(all, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		return all
	}
	chosen, beside := file("mine.so"), file("bin", LibraryName())
	cache := filepath.Join(dir, "cache")
	cached := filepath.Join(Pinned().Folder(cache), LibraryName())
	if rel, err := filepath.Rel(dir, cached); err != nil || file(rel) != cached {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "bin", "diglot")
	for _, tt := range []struct {
		name   string
		places Places
		want   string
	}{
		{"the chosen one first", Places{Chosen: chosen, Program: program, Cache: cache}, chosen},
		{"then the one beside the program", Places{Program: program, Cache: cache}, beside},
		{"then the one that was built", Places{Program: filepath.Join(dir, "elsewhere", "diglot"), Cache: cache}, cached},
		{"a chosen one that is missing", Places{Chosen: chosen + "x", Program: program, Cache: cache}, ""},
		{"a chosen folder", Places{Chosen: dir, Program: program, Cache: cache}, ""},
		{"none", Places{Program: "/nowhere/diglot", Cache: dir}, ""},
		{"nowhere to look", Places{}, ""},
	} {
		if got, err := Find(tt.places); got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%s: %q, error %v; want %q", tt.name, got, err, tt.want)
		}
	}
}

// TestMissing: a client is told what is missing, and how it comes.
func TestMissing(t *testing.T) {
	_, err := Find(Places{})
	e := engine.AsError(err)
	if e.Code != engine.CodeUnsupported || !e.NoRetry || !strings.Contains(e.Message, "make imagegen") || !strings.Contains(e.Message, "--imagegen FILE") {
		t.Errorf("error %+v", e)
	}
}

func TestInstructions(t *testing.T) {
	const two = "processor\t: 0\nflags\t\t: fpu sse4_1 avx2 ibrs avx fma\n\nprocessor\t: 1\nflags\t\t: avx512f\n"
	for _, tt := range []struct {
		info string
		want []string
	}{
		{two, []string{"avx", "avx2", "fma", "sse4_1"}},
		{"Features\t: fp asimd crc32 sve\n", []string{"asimd", "sve"}},
		{"", nil},
	} {
		if diff := cmp.Diff(tt.want, instructions(tt.info)); diff != "" {
			t.Errorf("%q: -want +got\n%s", tt.info, diff)
		}
	}
}
