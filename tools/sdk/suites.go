package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// suite is the SDKs of one language: how to install them, and the command to
// which base URL, model and mode are added.
type suite struct {
	name    string
	folder  string
	pinned  string   // file with the exact versions
	target  string   // folder that install fills
	install []string // run in folder
	command []string // run in folder
	env     []string
}

var suites = []suite{
	{
		name:   "python",
		folder: "python", pinned: "requirements.txt", target: "../../../.cache/sdk-python",
		// Into a folder, not into an environment of its own: that needs
		// nothing but pip, also where the system's Python is locked.
		install: []string{"python3", "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
			"--root-user-action", "ignore", "--upgrade", "--target", "../../../.cache/sdk-python", "-r", "requirements.txt"},
		command: []string{"python3", "main.py"},
		env:     []string{"PYTHONPATH=../../../.cache/sdk-python", "PYTHONDONTWRITEBYTECODE=1"},
	},
	{
		name:   "node",
		folder: "node", pinned: "package.json", target: "node_modules",
		install: []string{"npm", "install", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel", "error"},
		command: []string{"node", "main.js"},
	},
	{
		name:   "go",
		folder: ".", command: []string{"go", "run", "./go"}, env: []string{"CGO_ENABLED=0"},
	},
}

// run installs the SDKs unless they are there, runs the suite, and takes its
// counts from its last line.
func (s suite) run(ctx context.Context, address, model, mode string) (passed, failed int, err error) {
	if err := s.prepare(ctx); err != nil {
		return 0, 0, err
	}
	var said strings.Builder
	args := append(s.command[1:len(s.command):len(s.command)], address, model, mode)
	cmd := s.process(ctx, s.command[0], args...)
	cmd.Stdout = &said
	err = cmd.Run()
	counts, cases := "", strings.TrimSuffix(said.String(), "\n")
	if i := strings.LastIndexByte(cases, '\n'); i >= 0 {
		cases, counts = cases[:i], cases[i+1:]
	}
	if n, _ := fmt.Sscanf(counts, "%d passed, %d failed", &passed, &failed); n != 2 {
		return 0, 0, errors.Join(fmt.Errorf("no counts in %q", said.String()), err)
	}
	fmt.Println(cases)
	return passed, failed, nil
}

func (s suite) process(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = s.folder
	cmd.Env = append(os.Environ(), s.env...)
	cmd.Stderr = os.Stderr
	return cmd
}

// prepare installs what the pinned versions ask for; a copy of them in the
// target says that it is there.
func (s suite) prepare(ctx context.Context) error {
	if len(s.install) == 0 {
		return nil
	}
	want, err := os.ReadFile(filepath.Join(s.folder, s.pinned))
	if err != nil {
		return err
	}
	stamp := filepath.Join(s.folder, s.target, ".installed")
	if have, err := os.ReadFile(stamp); err == nil && string(have) == string(want) {
		return nil
	}
	fmt.Fprintf(os.Stderr, "sdk: installing the SDKs for %s\n", s.name)
	cmd := s.process(ctx, s.install[0], s.install[1:]...)
	cmd.Stdout = io.Discard
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", strings.Join(s.install, " "), err)
	}
	return os.WriteFile(stamp, want, 0o644)
}
