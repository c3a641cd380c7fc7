// Command release builds archives for people without a compiler, into dist:
//
//	go run ./tools/release                            for every platform that this machine can build for
//	go run ./tools/release linux/amd64 linux/arm64    for these
//
// An archive has the program once for each variant of package variant: bin/diglot
// runs on any processor of the platform, and it starts the processes of models from
// the best variant in lib/diglot. Archives can be unpacked into /usr/local. The same
// commit, Go and compiler give the same bytes.
//
// Each variant compiles llama.cpp anew, which takes minutes; Go's build cache keeps
// it. Linux on arm64 is compiled with Debian's g++-aarch64-linux-gnu. macOS is built
// on a Mac alone: nobody else has Apple's libraries.
package main

import (
	"context"
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
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *to, flag.Args(), os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		stop()
		os.Exit(1)
	}
}

// run builds for the named platforms, or for all that can be built for here.
func run(ctx context.Context, to string, names []string, log io.Writer) error {
	chosen, err := parsePlatforms(names)
	if err != nil {
		return err
	}
	for _, p := range chosen {
		reason := p.cannotBuild(runtime.GOOS, runtime.GOARCH)
		if reason != nil && len(names) > 0 {
			return reason
		}
		if reason != nil {
			fmt.Fprintln(log, "release: left out:", reason)
			continue
		}
		if err := release(ctx, p, to, log); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
	}
	return writeSums(to)
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
