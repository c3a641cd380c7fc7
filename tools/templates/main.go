// Command templates downloads the chat templates of 70 real models, for the tests
// behind the build tag corpus, and prints their folder.
//
//	go run ./tools/templates      from the root of the repository
//
// The templates are not ours to distribute. They are in llama.cpp's repository, which
// the source package of llama-cpp-python contains, so that only pip is needed. Each is
// verified by the SHA-256 in engine/chat/template/testdata. They are kept outside the
// repository, in $DIGLOT_TEMPLATES or in diglot/templates in the user's cache folder.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
)

// sums lists the templates with their SHA-256.
const sums = "engine/chat/template/testdata/templates.sha256"

// sourcePackage has the templates. The sums are for this version.
const sourcePackage = "llama-cpp-python==0.3.36"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Getenv("DIGLOT_TEMPLATES"), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "templates:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, folder string, out io.Writer) error {
	if folder == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return fmt.Errorf("no cache folder (set DIGLOT_TEMPLATES): %w", err)
		}
		folder = filepath.Join(cache, "diglot", "templates")
	}
	text, err := os.ReadFile(sums)
	if err != nil {
		return fmt.Errorf("run this from the root of the repository: %w", err)
	}
	want, err := readSums(string(text))
	if err != nil {
		return err
	}
	if missing(folder, want) != "" {
		if err := get(ctx, folder, want); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintln(out, folder)
	return err
}

// get downloads the package and extracts the templates.
func get(ctx context.Context, folder string, want map[string]string) error {
	scratch, err := os.MkdirTemp("", "diglot-templates-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	archive, err := pipDownload(ctx, sourcePackage, scratch)
	if err != nil {
		return err
	}
	in, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	if err := extract(in, folder, want); err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(archive), err)
	}
	if name := missing(folder, want); name != "" {
		return fmt.Errorf("%s is missing in %s, or has changed", name, filepath.Base(archive))
	}
	return nil
}

// pipDownload downloads the source archive of a package. pip runs the build for the
// metadata, which takes a while; nothing is compiled.
func pipDownload(ctx context.Context, pkg, folder string) (string, error) {
	fmt.Fprintf(os.Stderr, "templates: downloading the source of %s\n", pkg)
	cmd := exec.CommandContext(ctx, "python3", "-m", "pip", "download", "--quiet", "--disable-pip-version-check",
		"--no-deps", "--no-binary", ":all:", "--dest", folder, pkg)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("pip download %s: %w", pkg, err)
	}
	found, err := filepath.Glob(filepath.Join(folder, "*.tar.gz"))
	if err != nil || len(found) != 1 {
		return "", fmt.Errorf("pip download %s left %d archives instead of one", pkg, len(found))
	}
	return found[0], nil
}
