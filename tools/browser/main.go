// Command browser tests the pages of the server in headless Chromium: the page at / and
// the reference at /docs/, over servers that it starts with testdata/script.yaml.
//
//	go run ./tools/browser                      all cases
//	go run ./tools/browser -screenshots FOLDER  and a picture of each page
//
// Chromium is the program in CHROMIUM, else one in PATH, else what apt-get installs, where
// that is possible. The cases are in JavaScript beside this file, which drives Chromium by
// puppeteer-core and checks accessibility with axe-core. The last line has the counts.
package main

import (
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
)

// folder has the cases. The command runs in the root of the repository.
const folder = "tools/browser"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	screenshots := flag.String("screenshots", "", "put pictures of the pages into `FOLDER`")
	flag.Parse()
	if err := run(ctx, *screenshots); err != nil {
		fmt.Fprintln(os.Stderr, "browser:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, screenshots string) error {
	chromium, err := findChromium(ctx)
	if err != nil {
		return err
	}
	if err := installPackages(ctx); err != nil {
		return err
	}
	temporary, err := os.MkdirTemp("", "diglot-browser-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temporary)
	program := filepath.Join(temporary, "diglot")
	if err := execute(ctx, ".", "go", "build", "-o", program, "./cmd/diglot"); err != nil {
		return err
	}
	open, stopOpen, err := startServer(program, filepath.Join(temporary, "open"))
	if err != nil {
		return err
	}
	defer stopOpen()
	key := rand.Text()
	locked, stopLocked, err := startServer(program, filepath.Join(temporary, "locked"), "--api-key", key, "--profile", "document")
	if err != nil {
		return err
	}
	defer stopLocked()
	args := []string{"main.js", chromium, open, locked, key}
	if screenshots != "" {
		if screenshots, err = filepath.Abs(screenshots); err == nil {
			err = os.MkdirAll(screenshots, 0o755)
		}
		if err != nil {
			return err
		}
		args = append(args, screenshots)
	}
	return execute(ctx, folder, "node", args...)
}

// execute runs a command without cgo, and shows what it says.
func execute(ctx context.Context, folder, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // node ends Chromium, too
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
