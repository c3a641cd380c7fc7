package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine/local/variant"
)

// TestUnits: each variant of Linux compiles the files of its architecture, with its own
// flags and with those of the #cgo lines.
func TestUnits(t *testing.T) {
	t.Chdir("../..")
	for _, tt := range []struct {
		arch, has, lacks string
	}{
		{"amd64", "engine/local/llamacpp/matrix/avx2.cpp", "engine/local/llamacpp/matrix/neon.cpp"},
		{"arm64", "engine/local/llamacpp/matrix/neon.cpp", "engine/local/llamacpp/matrix/avx2.cpp"},
	} {
		for _, v := range variant.Of("linux", tt.arch) {
			env := append(os.Environ(), "CGO_ENABLED=1", "GOOS=linux", "GOARCH="+tt.arch, "CXX=c++ -x", "CGO_CXXFLAGS=-O3 "+v.Flags)
			packages, err := ownPackages(t.Context(), env, v)
			if err != nil {
				t.Fatal(err)
			}
			c, err := compilersOf(t.Context(), env)
			if err != nil {
				t.Fatal(err)
			}
			units := unitsOf(packages, c)
			for _, name := range []string{tt.has, "engine/local/llamacpp/attention.cpp", "engine/local/llamacpp/arc4random.c"} {
				if !slices.ContainsFunc(units, func(u unit) bool { return u.name == name }) {
					t.Errorf("%s: %s is not compiled", v.Name, name)
				}
			}
			for _, u := range units {
				command := strings.Join(u.command, " ")
				if u.name == tt.lacks || strings.HasPrefix(u.name, projectors) {
					t.Errorf("%s: %s is compiled", v.Name, u.name)
				}
				if strings.HasSuffix(u.name, ".cpp") && (!strings.HasPrefix(command, "c++ -x ") || !strings.Contains(command, "-O3 "+v.Flags+" -std=c++17")) {
					t.Errorf("%s: %s", v.Name, command)
				}
			}
		}
	}
}

// TestEnvironment: what a machine's owner has set for it is not in a release.
func TestEnvironment(t *testing.T) {
	t.Setenv("GOAMD64", "v4")
	t.Setenv("CGO_LDFLAGS", "-lm")
	env, err := environment(t.Context(), platform{runtime.GOOS, runtime.GOARCH}, variant.Variant{Flags: "-march=x"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := execute(t.Context(), env, os.Stderr, "go", "env", "GOAMD64", "GOARM64", "CGO_LDFLAGS", "CGO_CXXFLAGS")
	if want := "v1\nv8.0\n-O2 -g\n-O3 -march=x\n"; err != nil || got != want {
		t.Errorf("%q, error %v, want %q", got, err, want)
	}
}

// unguarded uses AVX2 whatever the compiler may use.
const unguarded = `#include <immintrin.h>
void add(int * p) {
    __m256i * v = reinterpret_cast<__m256i *>(p);
    _mm256_storeu_si256(v, _mm256_add_epi32(_mm256_loadu_si256(v), _mm256_loadu_si256(v)));
}
`

// TestCompileUnits: an instruction that a variant does not have is an error of the
// file and the variant.
func TestCompileUnits(t *testing.T) {
	const compiler = "x86_64-linux-gnu-g++"
	if _, err := exec.LookPath(compiler); err != nil {
		t.Logf("no %s: what it refuses was not tested", compiler)
		return
	}
	folder := t.TempDir()
	for name, text := range map[string]string{"good.cpp": "int good;\n", "unguarded.cpp": unguarded} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	given := sources{Dir: folder, ImportPath: "m/p", Module: &module{Path: "m"}, CXXFiles: []string{"good.cpp", "unguarded.cpp"}}
	for _, tt := range []struct {
		variant string
		want    tally
		says    string
	}{
		{"x86-64-v3", tally{passed: 2}, ""},
		{"x86-64-v2", tally{1, 1}, "p/unguarded.cpp does not compile for x86-64-v2: "},
	} {
		var log strings.Builder
		units := unitsOf([]sources{given}, compilers{CXX: compiler, CGO_CXXFLAGS: "-O3 -march=" + tt.variant})
		got := compileUnits(t.Context(), units, tt.variant, &log)
		if got != tt.want || !strings.HasPrefix(log.String(), tt.says) || (tt.says == "") != (log.String() == "") {
			t.Errorf("%s: %+v, %q", tt.variant, got, log.String())
		}
	}
}

// TestPassedFile: what compiled before counts no more once anything changed.
func TestPassedFile(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	packages := []sources{{Dir: folder, CXXFiles: []string{"a.cpp"}, HFiles: []string{"a.h"}}}
	write("a.cpp", "1")
	write("a.h", "1")
	write("compiler", "#!/bin/sh\necho 1\n")
	flag := "-march=1"
	names := map[string]bool{}
	for _, tt := range []struct {
		change string
		do     func()
		found  bool
	}{
		{"at first", func() {}, false},
		{"nothing", func() {}, true},
		{"a flag", func() { flag = "-march=2" }, false},
		{"a header", func() { write("a.h", "2") }, false},
		{"a file", func() { write("a.cpp", "2") }, false},
		{"the compiler", func() { write("compiler", "#!/bin/sh\necho 2\n") }, false},
	} {
		tt.do()
		name, err := passedFile(t.Context(), packages, []unit{{command: []string{filepath.Join(folder, "compiler"), flag}}})
		if err != nil {
			t.Fatal(err)
		}
		if names[name] != tt.found {
			t.Errorf("%s changed: it compiled before: %v", tt.change, names[name])
		}
		names[name] = true
	}
}
