package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine/imagegen/sdcpp"
)

// archive is a source package with the given files.
func archive(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	plain := gzip.NewWriter(&out)
	members := tar.NewWriter(plain)
	for name, text := range files {
		if err := members.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(text)), Mode: 0o644}); err != nil {
			t.Fatal(err)
		}
		if _, err := members.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(members.Close(), plain.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// site is a package index and a compiler.
type site struct {
	t         *testing.T
	pack      []byte
	downloads int
	commands  []string
	fail      string // first argument of the command that fails
}

func (s *site) builder(folder string) builder {
	sum := sha256.Sum256(s.pack)
	return builder{
		release: sdcpp.Release{Package: "p", Version: "1", SHA256: hex.EncodeToString(sum[:])},
		changes: []change{{"src/a.cpp", "n = 1;", "n = 2;"}},
		folder:  folder, jobs: 3, log: io.Discard, download: s.download, run: s.run,
	}
}

func (s *site) download(_ context.Context, _ sdcpp.Release, folder string) (string, error) {
	s.downloads++
	path := filepath.Join(folder, "p-1.tar.gz")
	return path, os.WriteFile(path, s.pack, 0o600)
}

// run compiles what is there.
func (s *site) run(_ context.Context, _ io.Writer, name string, args ...string) error {
	s.commands = append(s.commands, name+" "+args[0])
	if args[0] == s.fail {
		return errors.New("it failed")
	}
	if args[0] != "--build" {
		return nil
	}
	source, err := os.ReadFile(filepath.Join(filepath.Dir(args[1]), "source", "src", "diglot.cpp"))
	if err != nil {
		return err
	}
	bin := filepath.Join(args[1], "bin")
	return errors.Join(os.MkdirAll(bin, 0o755),
		os.WriteFile(filepath.Join(bin, sdcpp.LibraryName()), source, 0o644),
		os.WriteFile(filepath.Join(bin, "sd-cli"), nil, 0o755))
}

// TestBuild interrupts a build at each step, and goes on.
func TestBuild(t *testing.T) {
	if checkTools(func(string) (string, error) { return "", nil }) != nil {
		t.Fatal("all tools are there, and one is missing")
	}
	s := &site{t: t, pack: archive(t, map[string]string{
		"p-1/README": "x", "p-1/vendor/stable-diffusion.cpp/LICENSE": "mine", "p-1/vendor/stable-diffusion.cpp/src/a.cpp": "n = 1;",
	})}
	folder := filepath.Join(t.TempDir(), "built")
	b := s.builder(folder)
	steps := func() error {
		if err := os.MkdirAll(folder+".part", 0o755); err != nil {
			t.Fatal(err)
		}
		return b.steps(t.Context())
	}
	for _, s.fail = range []string{"-S", "--build"} {
		if err := steps(); err == nil {
			t.Errorf("%s failed, and the build did not", s.fail)
		}
		if _, err := os.Stat(folder); err == nil {
			t.Errorf("the folder is there after %s failed", s.fail)
		}
	}
	s.fail = ""
	if err := steps(); err != nil {
		t.Fatal(err)
	}
	if s.downloads != 1 || !slices.Equal(s.commands, []string{"cmake -S", "cmake -S", "cmake --build", "cmake -S", "cmake --build"}) {
		t.Errorf("%d downloads, commands %q", s.downloads, s.commands)
	}
	if source, err := os.ReadFile(b.work("source/src/a.cpp")); err != nil || string(source) != "n = 2;" {
		t.Errorf("the source is %q, error %v", source, err)
	}
	library, err := os.ReadFile(filepath.Join(folder, sdcpp.LibraryName()))
	if err != nil || !strings.Contains(string(library), fmt.Sprintf("return %q;", b.release.ID())) {
		t.Errorf("the library does not name its release, error %v", err)
	}
	if info, err := os.Stat(filepath.Join(folder, "sd-cli")); err != nil || info.Mode()&0o100 == 0 {
		t.Errorf("sd-cli: %v, error %v", info, err)
	}
	if license, err := os.ReadFile(filepath.Join(folder, "LICENSE")); err != nil || string(license) != "mine" {
		t.Errorf("the licence is %q, error %v", license, err)
	}
}

// TestFetchChecks: another package than the pinned one is not kept.
func TestFetchChecks(t *testing.T) {
	s := &site{t: t, pack: []byte("one")}
	b := s.builder(filepath.Join(t.TempDir(), "built"))
	s.pack = []byte("another")
	if err := os.MkdirAll(b.folder+".part", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := b.fetch(t.Context()); err == nil || !strings.Contains(err.Error(), "SHA-256") {
		t.Errorf("error %v", err)
	}
	if left, err := os.ReadDir(b.folder + ".part"); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, error %v", left, err)
	}
}

func TestExtract(t *testing.T) {
	const engine = "p-1/vendor/stable-diffusion.cpp/"
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  string // of the error
	}{
		{"no engine", map[string]string{"p-1/a": ""}, "it has no vendor"},
		{"outside", map[string]string{engine + "../../../a": ""}, "is outside of it"},
	} {
		err := extract(bytes.NewReader(archive(t, tt.files)), t.TempDir())
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q", tt.name, err, tt.want)
		}
	}
	if err := extract(strings.NewReader("no archive"), t.TempDir()); err == nil {
		t.Error("what is no archive was unpacked")
	}
}

func TestCheckTools(t *testing.T) {
	for _, tt := range []struct {
		there []string
		want  string // empty: nothing is missing
	}{
		{[]string{"cmake", "ninja", "c++", "cc", "python3"}, ""},
		{[]string{"cmake", "ninja", "clang++", "clang", "python3"}, ""},
		{[]string{"c++", "cc", "python3"}, "needs cmake, ninja, which"},
		{[]string{"cmake", "ninja", "python3"}, "needs c++ or g++ or clang++, cc or gcc or clang, which"},
	} {
		err := checkTools(func(name string) (string, error) {
			if slices.Contains(tt.there, name) {
				return name, nil
			}
			return "", errors.New("missing")
		})
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%v: error %v, want %q", tt.there, err, tt.want)
		}
	}
}

// TestInterface: whoever changes what is compiled in must count its version up, or an
// older library in the cache would be used.
func TestInterface(t *testing.T) {
	const version, want = 2, "7f168d247835"
	text, err := native.ReadFile("native/diglot.cpp")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range changes {
		text = append(text, c.file+c.old+c.new...)
	}
	sum := sha256.Sum256(text)
	if got := hex.EncodeToString(sum[:])[:12]; sdcpp.Pinned().Interface != version || got != want {
		t.Errorf("version %d has the sum %s, and %d had %s: count sdcpp.Release.Interface up and note both here", sdcpp.Pinned().Interface, got, version, want)
	}
}

// TestChangeOfAnotherFile fails where the text to be changed is not there once.
func TestChangeOfAnotherFile(t *testing.T) {
	dir := t.TempDir()
	c := change{"f", "a", "b"}
	for text, ok := range map[string]bool{"xa": true, "xb": true, "": false, "aa": false} {
		if err := os.WriteFile(filepath.Join(dir, "f"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := c.apply(dir); (err == nil) != ok {
			t.Errorf("%q: error %v", text, err)
		}
	}
}
