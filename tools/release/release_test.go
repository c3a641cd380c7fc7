package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/diglot/diglot/tools/internal/toolchain"
)

func TestParsePlatforms(t *testing.T) {
	for _, tt := range []struct{ names, want string }{
		{"", "[linux/amd64 linux/arm64 darwin/arm64] <nil>"},
		{"linux/arm64", "[linux/arm64] <nil>"},
		{"windows/amd64", `[] "windows/amd64" is no platform with a release; there are linux/amd64, linux/arm64, darwin/arm64`},
	} {
		got, err := parsePlatforms(strings.Fields(tt.names))
		if said := fmt.Sprint(got, " ", err); said != tt.want {
			t.Errorf("%q: %s, want %s", tt.names, said, tt.want)
		}
	}
}

func TestCannotBuild(t *testing.T) {
	t.Setenv("PATH", t.TempDir()) // no compiler
	t.Setenv("CXX", "")
	for _, tt := range []struct {
		p            platform
		system, arch string
		want         string
	}{
		{platform{"darwin", "arm64"}, "linux", "arm64", "on a Mac alone"},
		{platform{"linux", "arm64"}, "darwin", "arm64", "on Linux alone"},
		{platform{"linux", "arm64"}, "linux", "amd64", "C++ compiler"},
	} {
		if err := tt.p.cannotBuild(tt.system, tt.arch); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s on %s: %v, want %q", tt.p, tt.system, err, tt.want)
		}
	}
}

func TestReadProvenance(t *testing.T) {
	stamped := []debug.BuildSetting{{Key: "vcs.time", Value: "2026-11-30T08:00:00Z"}}
	for _, tt := range []struct {
		name, version string
		settings      []debug.BuildSetting
		want          string
	}{
		{"a tag", "v1.2.3", stamped, "v1.2.3 2026-11-30T08:00:00Z <nil>"},
		{"no version control", "(devel)", nil, "devel 1980-01-01T00:00:00Z <nil>"},
	} {
		made, err := readProvenance(&debug.BuildInfo{Main: debug.Module{Version: tt.version}, Settings: tt.settings})
		if got := fmt.Sprint(made.version, " ", made.time.Format(time.RFC3339), " ", err); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestNewestGlibc(t *testing.T) {
	for _, tt := range []struct{ versions, want string }{
		{"", ""},
		{"GCC_3.0 GLIBCXX_3.4.30", ""},
		{"GLIBC_2.2.5 GLIBC_2.34 GLIBC_2.9 GLIBC_PRIVATE", "2.34"},
	} {
		if got := newestGlibc(strings.Fields(tt.versions)); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.versions, got, tt.want)
		}
	}
}

// TestArchive: programs are where they look for each other, and the same contents
// give the same bytes.
func TestArchive(t *testing.T) {
	t.Chdir("../..") // where the documents are
	folder := t.TempDir()
	var programs []program
	for _, name := range []string{"best", "first"} {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte("program "+name), 0o600); err != nil {
			t.Fatal(err)
		}
		programs = append(programs, program{variant: name, path: path})
	}
	files, err := contents(programs, []byte("notices"))
	if err != nil {
		t.Fatal(err)
	}
	changed := time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC)
	var archives [2][]byte
	for i := range archives {
		path := filepath.Join(folder, fmt.Sprint(i), "a.tar.gz")
		if err := writeArchive(path, "diglot-v1", changed, files); err != nil {
			t.Fatal(err)
		}
		if archives[i], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(archives[0], archives[1]) {
		t.Error("the same files give other bytes")
	}
	want := `drwxr-xr-x 0 diglot-v1/
drwxr-xr-x 0 diglot-v1/bin/
-rwxr-xr-x 13 diglot-v1/bin/diglot
drwxr-xr-x 0 diglot-v1/lib/
drwxr-xr-x 0 diglot-v1/lib/diglot/
drwxr-xr-x 0 diglot-v1/lib/diglot/best/
-rwxr-xr-x 12 diglot-v1/lib/diglot/best/diglot
drwxr-xr-x 0 diglot-v1/share/
drwxr-xr-x 0 diglot-v1/share/doc/
drwxr-xr-x 0 diglot-v1/share/doc/diglot/
-rw-r--r-- LICENSE diglot-v1/share/doc/diglot/LICENSE
-rw-r--r-- README.md diglot-v1/share/doc/diglot/README.md
-rw-r--r-- SECURITY.md diglot-v1/share/doc/diglot/SECURITY.md
-rw-r--r-- 7 diglot-v1/share/doc/diglot/THIRD-PARTY-NOTICES
`
	for _, name := range []string{"LICENSE", "README.md", "SECURITY.md"} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		want = strings.Replace(want, "-rw-r--r-- "+name, fmt.Sprint("-rw-r--r-- ", info.Size()), 1)
	}
	if diff := cmp.Diff(want, listing(t, archives[0], changed)); diff != "" {
		t.Errorf("archive (-want +got):\n%s", diff)
	}
}

// listing lists an archive whose files all have one time and belong to root.
func listing(t *testing.T, packed []byte, changed time.Time) string {
	t.Helper()
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	var list strings.Builder
	archive := tar.NewReader(unpacked)
	for {
		h, err := archive.Next()
		if err == io.EOF {
			return list.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		if !h.ModTime.Equal(changed) || h.Uid != 0 || h.Gid != 0 || h.Uname != "" {
			t.Errorf("%s: changed %v, owner %d:%d %s", h.Name, h.ModTime, h.Uid, h.Gid, h.Uname)
		}
		fmt.Fprintf(&list, "%s %d %s\n", h.FileInfo().Mode(), h.Size, h.Name)
	}
}

func TestSums(t *testing.T) {
	folder := t.TempDir()
	want := ""
	for _, name := range []string{"a.tar.gz", "b.tar.gz"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
		want += fmt.Sprintf("%x  %s\n", sha256.Sum256([]byte(name)), name)
	}
	if err := writeSums(folder); err != nil {
		t.Fatal(err)
	}
	if err := writeSums(folder); err != nil { // SHA256SUMS is no archive
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(folder, "SHA256SUMS"))
	if err != nil || string(got) != want {
		t.Errorf("%q, error %v, want %q", got, err, want)
	}
}

func TestNotices(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a/LICENSE", "of a")
	write("a/notice.go", "code")
	write("a/vendored/COPYING.txt", "of what a contains")
	write("a/vendored/deep/LICENSE", "of a")
	write("b/LICENSE-MIT", "of b")
	write("c/code.go", "code")
	line := func(module, folder string) string {
		return module + " v1\t" + filepath.Join(root, module) + "\t" + filepath.Join(root, folder)
	}
	got, err := notices([]string{line("b", "b"), line("a", "a"), line("a", "a/vendored/deep")})
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for text := range strings.Lines(string(got)) {
		if strings.Contains(text, " v1, ") || strings.HasPrefix(text, "of ") {
			told = append(told, strings.TrimSpace(text))
		}
	}
	want := []string{"a v1, LICENSE", "of a", "a v1, COPYING.txt", "of what a contains", "b v1, LICENSE-MIT", "of b"}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := notices([]string{line("c", "c")}); err == nil {
		t.Error("a module without a licence is taken")
	}
}

// TestEveryModuleHasALicence reads the licences of what a release for Linux has inside.
func TestEveryModuleHasALicence(t *testing.T) {
	t.Chdir("../..")
	env, err := toolchain.Target{Arch: runtime.GOARCH}.Environment(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	text, err := thirdParties(t.Context(), append(env, "GOOS=linux"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\nGo, LICENSE\n", "\ngithub.com/spf13/cobra v", "\ngithub.com/ollama/ollama v", "The ggml authors", // of llama.cpp, within the module
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the notices lack %q", want)
		}
	}
	if strings.Contains(string(text), "gonum.org") {
		t.Error("the notices have modules that only tools use")
	}
}
