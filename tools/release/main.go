// Command release builds archives for people without a compiler, into dist:
//
//	go run ./tools/release                            for every platform that this machine can build for
//	go run ./tools/release linux/amd64 linux/arm64    for these
//	go run ./tools/release -check                     builds nothing, but says whether our C++ compiles
//
// An archive has the program once for each variant of package variant: bin/diglot
// runs on any processor of the platform, and it starts the processes of models from
// the best variant in lib/diglot. Archives can be unpacked into /usr/local. The same
// commit, Go, compiler and C library give the same bytes, in any folder.
//
// Each variant compiles llama.cpp anew, which takes minutes; Go's build cache keeps
// it. Linux on arm64 is compiled with Debian's g++-aarch64-linux-gnu. macOS is built
// on a Mac alone: nobody else has Apple's libraries.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
)

func main() {
	to := flag.String("o", "dist", "write into `FOLDER`")
	onlyCheck := flag.Bool("check", false, "compile only the C and C++ of this repository, for each variant, and keep nothing")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *to, flag.Args(), *onlyCheck); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		stop()
		os.Exit(1)
	}
}

// run builds, or only checks, for the named platforms, or for all that can be built for
// here.
func run(ctx context.Context, to string, names []string, onlyCheck bool) error {
	chosen, err := choose(names, os.Stderr)
	if err != nil {
		return err
	}
	if onlyCheck {
		count, err := check(ctx, chosen, os.Stderr)
		fmt.Printf("%d passed, %d failed\n", count.passed, count.failed)
		if err == nil && count.failed > 0 {
			err = errors.New("not all variants compile")
		}
		return err
	}
	for _, p := range chosen {
		if err := release(ctx, p, to, os.Stderr); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
	}
	return writeSums(to)
}

// choose returns the named platforms, or all that can be built for here.
func choose(names []string, log io.Writer) ([]platform, error) {
	named, err := parsePlatforms(names)
	if err != nil {
		return nil, err
	}
	var chosen []platform
	for _, p := range named {
		reason := p.cannotBuild(runtime.GOOS, runtime.GOARCH)
		switch {
		case reason == nil:
			chosen = append(chosen, p)
		case len(names) > 0:
			return nil, reason
		default:
			fmt.Fprintln(log, "note: left out:", reason)
		}
	}
	return chosen, nil
}

// release writes the archive of a platform.
func release(ctx context.Context, p platform, to string, log io.Writer) error {
	programs, err := compile(ctx, p, filepath.Join(".cache", "release", p.system+"-"+p.arch), log)
	if err != nil {
		return err
	}
	made, err := provenanceOf(programs[len(programs)-1].path)
	if err != nil {
		return err
	}
	notices, err := thirdParties(ctx, programs[0].env)
	if err != nil {
		return err
	}
	files, err := contents(programs, notices)
	if err != nil {
		return err
	}
	name := "diglot-" + made.version + "-" + p.system + "-" + p.arch
	path := filepath.Join(to, name+".tar.gz")
	if err := writeArchive(path, name, made.time, files); err != nil {
		return err
	}
	needs, err := newestSymbols(programs)
	if err != nil {
		return err
	}
	fmt.Fprintf(log, "release: %s%s\n", path, needs)
	return nil
}

// execute runs a command in an environment, and returns its standard output.
func execute(ctx context.Context, env []string, log io.Writer, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env, cmd.Stderr = env, log
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return string(out), nil
}
