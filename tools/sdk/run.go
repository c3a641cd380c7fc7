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

// runSuites runs suites with limited concurrency, and prints their output in order.
func runSuites(ctx context.Context, chosen []suite, at int, address, model, mode string) (passed, failed int, err error) {
	results := make([]chan result, len(chosen))
	places := make(chan struct{}, at)
	for i, s := range chosen {
		results[i] = make(chan result, 1)
		places <- struct{}{}
		go func() {
			results[i] <- s.run(ctx, address, model, mode)
			<-places
		}()
	}
	for i, s := range chosen {
		r := <-results[i]
		fmt.Print(r.cases)
		if r.err != nil {
			return 0, 0, fmt.Errorf("%s: %w", s.name, r.err)
		}
		passed, failed = passed+r.passed, failed+r.failed
	}
	return passed, failed, nil
}

// result is the result of a suite.
type result struct {
	cases          string // its output without the counts
	passed, failed int
	err            error
}

// run runs an installed suite, and reads the counts from its last line.
func (s suite) run(ctx context.Context, address, model, mode string) result {
	var said strings.Builder
	args := append(s.command[1:len(s.command):len(s.command)], address, model, mode)
	cmd := s.process(ctx, s.command[0], args...)
	cmd.Stdout = &said
	err := cmd.Run()
	counts, cases := "", strings.TrimSuffix(said.String(), "\n")
	if i := strings.LastIndexByte(cases, '\n'); i >= 0 {
		cases, counts = cases[:i+1], cases[i+1:]
	}
	r := result{cases: cases}
	if n, _ := fmt.Sscanf(counts, "%d passed, %d failed", &r.passed, &r.failed); n != 2 {
		r.err = errors.Join(fmt.Errorf("no counts in %q", said.String()), err)
	}
	return r
}

func (s suite) process(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = s.folder
	cmd.Env = append(os.Environ(), s.env...)
	cmd.Stderr = os.Stderr
	return cmd
}

// prepare installs the pinned versions. A copy of the pin file in the target marks it as
// installed.
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
	// Leftovers of an earlier version would hide missing files.
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
