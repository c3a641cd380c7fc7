package main

import (
	"cmp"
	"context"
	"debug/buildinfo"
	"debug/elf"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/diglot/diglot/engine/local/variant"
	"github.com/diglot/diglot/tools/internal/toolchain"
)

// program is a compiled variant.
type program struct {
	variant string
	path    string
	env     []string // that it was compiled in
}

// compile compiles the variants of a platform, the one that runs everywhere last.
func compile(ctx context.Context, p platform, folder string, log io.Writer) ([]program, error) {
	var all []program
	for _, v := range variant.Of(p.system, p.arch) {
		fmt.Fprintf(log, "release: %s: compiling %s; the first time takes some minutes\n", p, v.Name)
		env, err := environment(ctx, p, v)
		if err != nil {
			return nil, err
		}
		made := program{v.Name, filepath.Join(folder, v.Name), env}
		if _, err := execute(ctx, env, log, "go", buildArguments(p, made)...); err != nil {
			return nil, err
		}
		all = append(all, made)
	}
	return all, nil
}

// environment is what a variant of a platform is compiled in. What someone has set for
// their own machine would decide otherwise where a release runs.
func environment(ctx context.Context, p platform, v variant.Variant) ([]string, error) {
	env, err := toolchain.Target{Arch: p.arch, Flags: v.Flags, Portable: true}.Environment(ctx)
	return append(env, "GOAMD64=v1", "GOARM64=v8.0", "GOFLAGS=", "CGO_LDFLAGS="), err
}

// tagsOf are the build tags of a variant.
func tagsOf(variant string) string { return "llamacpp,release,release." + variant }

// buildArguments have no path of this machine, and no symbols. The C++ library of
// another Linux may be older than this one's, so it is linked in; that of GCC's C
// runtime is the same everywhere, and linked in it would need glibc 2.35.
func buildArguments(p platform, made program) []string {
	link := "-s -w"
	if p.system == "linux" {
		link += " -extldflags -static-libstdc++"
	}
	return []string{
		"build", "-trimpath", "-buildvcs=auto", "-tags", tagsOf(made.variant), "-ldflags", link, "-o", made.path, "./cmd/diglot",
	}
}

// provenance is where a program comes from.
type provenance struct {
	version string
	time    time.Time // of the commit
}

// provenanceOf reads it from the program, where Go wrote it.
func provenanceOf(path string) (provenance, error) {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return provenance{}, err
	}
	return readProvenance(info)
}

func readProvenance(info *debug.BuildInfo) (provenance, error) {
	made := provenance{version: strings.Trim(info.Main.Version, "()"), time: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)}
	made.version = cmp.Or(made.version, "devel")
	for _, s := range info.Settings {
		if s.Key != "vcs.time" {
			continue
		}
		var err error
		if made.time, err = time.Parse(time.RFC3339, s.Value); err != nil {
			return provenance{}, err
		}
	}
	return made, nil
}

// newestSymbols says which glibc programs for Linux need.
func newestSymbols(programs []program) (string, error) {
	var all []string
	for _, made := range programs {
		if _, err := os.Stat(made.path); err != nil {
			return "", err
		}
		file, err := elf.Open(made.path)
		if err != nil {
			return "", nil // a program for macOS
		}
		symbols, err := file.ImportedSymbols()
		_ = file.Close()
		if err != nil {
			return "", err
		}
		for _, s := range symbols {
			all = append(all, s.Version)
		}
	}
	if newest := newestGlibc(all); newest != "" {
		return " needs glibc " + newest + " or later", nil
	}
	return "", nil
}

// newestGlibc is the newest version of glibc among versions of symbols, such as
// GLIBC_2.34; empty: there is none.
func newestGlibc(versions []string) string {
	newest := ""
	for _, v := range versions {
		if number, ok := strings.CutPrefix(v, "GLIBC_"); ok && slices.Compare(numbers(number), numbers(newest)) > 0 {
			newest = number
		}
	}
	return newest
}

// numbers are those of a version; what is none counts as 0.
func numbers(version string) []int {
	var all []int
	for part := range strings.SplitSeq(version, ".") {
		n, _ := strconv.Atoi(part) // PRIVATE
		all = append(all, n)
	}
	return all
}
