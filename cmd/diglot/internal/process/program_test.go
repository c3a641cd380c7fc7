package process

import (
	"bytes"
	"debug/buildinfo"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/diglot/diglot/engine/local/variant"
)

// compileVariant makes a small program that is a variant of a release.
func compileVariant(t *testing.T, name, path string) {
	t.Helper()
	source := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(source, []byte("package main\nfunc main() {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), "go", "build", "-tags", "llamacpp,release."+name, "-o", path, source)
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if said, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
}

// installed makes a release for amd64 that has the first variant and the third level,
// and returns the path of the first.
func installed(t *testing.T) (own string, info *debug.BuildInfo) {
	t.Helper()
	own = filepath.Join(t.TempDir(), "bin", "diglot")
	compileVariant(t, "x86-64", own)
	compileVariant(t, "x86-64-v3", variant.Path(own, "x86-64-v3"))
	info, err := buildinfo.ReadFile(own)
	if err != nil {
		t.Fatal(err)
	}
	return own, info
}

// level3 has what the third level of x86-64 needs.
func level3() variant.Processor {
	p := variant.Processor{}
	for _, v := range variant.Of("linux", "amd64") {
		if v.Name == "x86-64-v3" {
			for _, name := range v.Missing(nil) {
				p[name] = true
			}
		}
	}
	return p
}

func TestForProcessor(t *testing.T) {
	own, info := installed(t)
	native := *info
	native.Settings = nil
	all := variant.Of("linux", "amd64")
	third := variant.Path(own, "x86-64-v3")
	for _, tt := range []struct {
		name   string
		has    variant.Processor
		info   *debug.BuildInfo
		wanted string
		want   Program
		warns  string
		fails  string
	}{
		{name: "the best one", has: level3(), info: info, want: Program{Path: third, Variant: "x86-64-v3"}},
		{name: "the first one, on the first processors", info: info, want: Program{Path: own, Variant: "x86-64"}},
		{name: "the one that is wanted", has: level3(), info: info, wanted: "x86-64", want: Program{Path: own, Variant: "x86-64"}},
		{name: "one that is not installed", has: level3(), info: info, wanted: "x86-64-v2", want: Program{Path: own, Variant: "x86-64"}, warns: "x86-64-v2"},
		{name: "one that does not exist", info: info, wanted: "fast", fails: `"fast", not one of x86-64-v4-vnni, x86-64-v3, x86-64-v2, x86-64`},
		{name: "one that the processor cannot run", has: level3(), info: info, wanted: "x86-64-v4-vnni", fails: "lacks avx512f"},
		{name: "no release", has: level3(), info: &native, wanted: "fast", want: Program{Path: own}},
	} {
		got, err := forProcessor(tt.has, all, own, tt.info, tt.wanted)
		if tt.fails != "" {
			if err == nil || !strings.Contains(err.Error(), tt.fails) {
				t.Errorf("%s: error %v, want %q", tt.name, err, tt.fails)
			}
			continue
		}
		if !strings.Contains(got.Warning, tt.warns) || (got.Warning == "") != (tt.warns == "") {
			t.Errorf("%s: warning %q, want %q", tt.name, got.Warning, tt.warns)
		}
		got.Warning = ""
		if err != nil || got != tt.want {
			t.Errorf("%s: %+v, error %v, want %+v", tt.name, got, err, tt.want)
		}
	}
}

// TestUnusableVariant: whatever the file of a variant is, models run.
func TestUnusableVariant(t *testing.T) {
	own, info := installed(t)
	third := variant.Path(own, "x86-64-v3")
	whole, err := os.ReadFile(third)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name  string
		harm  func(path string) error
		warns string
	}{
		{"missing", os.Remove, "no such file"},
		{"not executable", func(path string) error { return os.Chmod(path, 0o644) }, "permission denied"},
		{"a folder", func(path string) error {
			if err := os.Remove(path); err != nil {
				return err
			}
			return os.Mkdir(path, 0o755)
		}, "is a directory"},
		{"cut off", func(path string) error {
			info, err := os.Stat(path)
			if err != nil {
				return err
			}
			return os.Truncate(path, info.Size()-1)
		}, "cannot be used"},
		{"no program", func(path string) error { return os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755) }, "unrecognized file format"},
		{"empty", func(path string) error { return os.Truncate(path, 0) }, "cannot be used"},
	} {
		if err := os.RemoveAll(third); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(third, whole, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := tt.harm(third); err != nil {
			t.Fatal(err)
		}
		got, err := forProcessor(level3(), variant.Of("linux", "amd64"), own, info, "")
		if err != nil || got.Path != own || !strings.Contains(got.Warning, tt.warns) {
			t.Errorf("%s: %+v, error %v, want a warning with %q", tt.name, got, err, tt.warns)
		}
	}
}

// TestVariantOfAnotherBuild: the process of a model speaks the protocol of its own
// version.
func TestVariantOfAnotherBuild(t *testing.T) {
	own, info := installed(t)
	for _, tt := range []struct {
		name   string
		change func(*debug.BuildInfo)
		warns  string
	}{
		{"revision", func(i *debug.BuildInfo) {
			i.Settings = append(i.Settings, debug.BuildSetting{Key: "vcs.revision", Value: "abc"})
		}, "vcs.revision"},
		{"version", func(i *debug.BuildInfo) { i.Main.Version = "v9" }, "of version"},
		{"Go", func(i *debug.BuildInfo) { i.GoVersion = "go1" }, "built with"},
	} {
		changed := *info
		changed.Settings = append([]debug.BuildSetting{}, info.Settings...)
		tt.change(&changed)
		got, err := forProcessor(level3(), variant.Of("linux", "amd64"), own, &changed, "")
		if err != nil || got.Path != own || !strings.Contains(got.Warning, tt.warns) {
			t.Errorf("%s: %+v, error %v, want a warning with %q", tt.name, got, err, tt.warns)
		}
	}
	other := variant.Path(own, "x86-64-v3")
	compileVariant(t, "x86-64-v2", other)
	if got, err := forProcessor(level3(), variant.Of("linux", "amd64"), own, info, ""); err != nil || !strings.Contains(got.Warning, `the variant "x86-64-v2"`) {
		t.Errorf("another variant in its place: %+v, error %v", got, err)
	}
}

func TestProgramLog(t *testing.T) {
	for _, tt := range []struct {
		program Program
		want    string
	}{
		{Program{Path: "p"}, ""},
		{Program{Path: "p", Variant: "v"}, "level=INFO msg=\"variant for this processor\" variant=v\n"},
		{Program{Path: "p", Variant: "v", Warning: "w"}, "level=WARN msg=\"models run slower than they could\" variant=v reason=w\n"},
	} {
		var out bytes.Buffer
		tt.program.Log(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: WithoutTime})))
		if out.String() != tt.want {
			t.Errorf("%+v: %q, want %q", tt.program, out.String(), tt.want)
		}
	}
}
