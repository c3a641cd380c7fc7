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

// run runs the suite, which prepare has installed, and takes its counts from
// its last line.
func (s suite) run(ctx context.Context, address, model, mode string) (passed, failed int, err error) {
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
	if s.pinned == "" {
		return s.fill(ctx)
	}
	want, err := os.ReadFile(filepath.Join(s.folder, s.pinned))
	if err != nil {
		return err
	}
	target := filepath.Join(s.folder, s.target)
	stamp := filepath.Join(target, ".installed")
	if have, err := os.ReadFile(stamp); err == nil && string(have) == string(want) {
		return nil
	}
	fmt.Fprintf(os.Stderr, "sdk: installing what %s needs\n", s.name)
	// What an earlier version left would hide what this one lacks.
	if err := os.RemoveAll(target); err != nil {
		return err
	}
	if err := s.fill(ctx); err != nil {
		return err
	}
	return os.WriteFile(stamp, want, 0o644)
}

func (s suite) fill(ctx context.Context) error {
	cmd := s.process(ctx, s.install[0], s.install[1:]...)
	cmd.Stdout = io.Discard
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s cannot be installed; it needs %s and its package index: %s: %w",
			s.name, s.install[0], strings.Join(s.install, " "), err)
	}
	return nil
}
