package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/diglot/diglot/engine/local/variant"
)

// unit is a file of ours in C or C++, and the command that compiles it.
type unit struct {
	name    string // with its folder
	folder  string // where the command runs
	command []string
}

// tally counts files, each once for each variant.
type tally struct{ passed, failed int }

// projectors is the folder whose files include sources of llama.cpp. They use no
// instructions of their own, and would take a third of the time.
const projectors = "engine/local/llamacpp/mtmd"

// check compiles our own C and C++ for each variant of the platforms, as a release
// does, and keeps nothing. llama.cpp's takes minutes and is left out. A variant is not
// repeated if all of it compiled before.
func check(ctx context.Context, platforms []platform, log io.Writer) (tally, error) {
	var total tally
	for _, p := range platforms {
		for _, v := range variant.Of(p.system, p.arch) {
			count, err := checkVariant(ctx, p, v, log)
			if err != nil {
				return total, fmt.Errorf("%s: %w", v.Name, err)
			}
			total.passed += count.passed
			total.failed += count.failed
		}
	}
	return total, nil
}

func checkVariant(ctx context.Context, p platform, v variant.Variant, log io.Writer) (tally, error) {
	env, err := environment(ctx, p, v)
	if err != nil {
		return tally{}, err
	}
	packages, err := ownPackages(ctx, env, v)
	if err != nil {
		return tally{}, err
	}
	compilers, err := compilersOf(ctx, env)
	if err != nil {
		return tally{}, err
	}
	units := unitsOf(packages, compilers)
	known, err := passedFile(ctx, packages, units)
	if err != nil {
		return tally{}, err
	}
	if _, err := os.Stat(known); err == nil {
		return tally{passed: len(units)}, nil
	}
	count := compileUnits(ctx, units, v.Name, log)
	if count.failed > 0 || ctx.Err() != nil {
		return count, ctx.Err()
	}
	return count, errors.Join(os.MkdirAll(filepath.Dir(known), 0o755), os.WriteFile(known, nil, 0o644))
}

// compileUnits says which units do not compile, and why.
func compileUnits(ctx context.Context, units []unit, variant string, log io.Writer) tally {
	said := make([]string, len(units)) // by those that failed
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, u := range units {
		group.Go(func() error {
			cmd := exec.CommandContext(ctx, u.command[0], u.command[1:]...)
			cmd.Dir = u.folder
			if out, err := cmd.CombinedOutput(); err != nil {
				said[i] = fmt.Sprintf("%s does not compile for %s: %v\n%s", u.name, variant, err, out)
			}
			return nil
		})
	}
	_ = group.Wait() // the errors are in said
	failed := slices.DeleteFunc(said, func(s string) bool { return s == "" })
	fmt.Fprint(log, strings.Join(failed, ""))
	return tally{len(units) - len(failed), len(failed)}
}

// sources is a package as go list describes it.
type sources struct {
	Dir, ImportPath                     string
	Module                              *module
	CFiles, CXXFiles, HFiles            []string
	CgoCPPFLAGS, CgoCFLAGS, CgoCXXFLAGS []string
}

type module struct {
	Path string
	Main bool
}

// folder is where a package of this repository is, from the root.
func (s sources) folder() string { return strings.TrimPrefix(s.ImportPath, s.Module.Path+"/") }

// ownPackages are those of this repository that a variant has, if they contain C or C++.
func ownPackages(ctx context.Context, env []string, v variant.Variant) ([]sources, error) {
	list, err := execute(ctx, env, os.Stderr, "go", "list", "-deps", "-tags", tagsOf(v.Name),
		"-json=Dir,ImportPath,Module,CFiles,CXXFiles,HFiles,CgoCPPFLAGS,CgoCFLAGS,CgoCXXFLAGS", "./cmd/diglot")
	if err != nil {
		return nil, err
	}
	var own []sources
	for from := jsontext.NewDecoder(strings.NewReader(list)); ; {
		var s sources
		switch err := json.UnmarshalDecode(from, &s); {
		case err == io.EOF:
			return own, nil
		case err != nil:
			return nil, err
		}
		if s.Module != nil && s.Module.Main && len(s.CFiles)+len(s.CXXFiles) > 0 && s.folder() != projectors {
			own = append(own, s)
		}
	}
}

// compilers are what cgo compiles with, and flags of the environment.
type compilers struct{ CC, CXX, CGO_CPPFLAGS, CGO_CFLAGS, CGO_CXXFLAGS string }

func compilersOf(ctx context.Context, env []string) (compilers, error) {
	out, err := execute(ctx, env, os.Stderr, "go", "env", "-json", "CC", "CXX", "CGO_CPPFLAGS", "CGO_CFLAGS", "CGO_CXXFLAGS")
	if err != nil {
		return compilers{}, err
	}
	var c compilers
	return c, json.Unmarshal([]byte(out), &c)
}

// unitsOf are the files of packages with the commands of cgo, except that the compiler
// stops where it has inlined: -flto leaves the rest to a linker. To stop earlier would
// not do, since only inlining asks whether the processor has what an intrinsic needs.
// Nor would -O0, which inlines too little for arguments that must be constants.
func unitsOf(packages []sources, c compilers) []unit {
	stop := []string{"-flto", "-fno-fat-lto-objects"}
	var units []unit
	for _, s := range packages {
		add := func(files []string, compiler, flags string, own []string) {
			for _, file := range files {
				units = append(units, unit{s.folder() + "/" + file, s.Dir, slices.Concat(
					strings.Fields(compiler), []string{"-I.", "-fPIC", "-pthread"}, strings.Fields(c.CGO_CPPFLAGS), s.CgoCPPFLAGS,
					strings.Fields(flags), own, stop, []string{"-o", os.DevNull, "-c", file})})
			}
		}
		add(s.CFiles, c.CC, c.CGO_CFLAGS, s.CgoCFLAGS)
		add(s.CXXFiles, c.CXX, c.CGO_CXXFLAGS, s.CgoCXXFLAGS)
	}
	return units
}

// passedFile exists if these units compiled. Its name is a hash of all that they depend
// on: commands, which name llama.cpp's version, compilers, and our files.
func passedFile(ctx context.Context, packages []sources, units []unit) (string, error) {
	var all bytes.Buffer
	for _, u := range units {
		fmt.Fprintf(&all, "%q\n", u.command)
	}
	seen := map[string]bool{}
	for _, u := range units {
		if program := u.command[0]; !seen[program] {
			seen[program] = true
			version, err := exec.CommandContext(ctx, program, "--version").Output()
			if err != nil {
				return "", fmt.Errorf("%s --version: %w", program, err)
			}
			all.Write(version)
		}
	}
	files, err := filepath.Glob(filepath.Join(projectors, "*.h")) // which others include
	if err != nil {
		return "", err
	}
	for _, s := range packages {
		for _, name := range slices.Concat(s.HFiles, s.CFiles, s.CXXFiles) {
			files = append(files, filepath.Join(s.Dir, name))
		}
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&all, "%q %x\n", filepath.Base(file), sha256.Sum256(data))
	}
	return filepath.Join(".cache", "release", "checked", fmt.Sprintf("%x", sha256.Sum256(all.Bytes()))), nil
}
