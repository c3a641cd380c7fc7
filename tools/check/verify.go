package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// verifyModels are the models that verify runs over, smallest first.
var verifyModels = []string{testModel, visionModel}

// verify runs "diglot verify" against this server over real models, in both profiles. What
// a model cannot do is skipped, and printed; the tests of cmd/diglot/internal/contract run
// that over a mock engine.
func verify(ctx context.Context, out io.Writer) (tally, error) {
	if err := execute(ctx, out, nil, "go", "run", "./tools/build"); err != nil {
		return tally{}, err
	}
	var models []string
	for _, name := range append([]string{testEncoder}, verifyModels...) {
		file, err := fetchModel(ctx, out, name)
		if err != nil {
			return tally{}, err
		}
		models = append(models, "--model", name+"="+file)
	}
	var total tally
	for _, profile := range []string{"default", "document"} {
		count, err := verifyProfile(ctx, out, profile, models)
		total.add(count)
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

// verifyProfile starts a server of one profile and verifies each model.
func verifyProfile(ctx context.Context, out io.Writer, profile string, models []string) (total tally, err error) {
	base, stop, err := serveModels(ctx, out, append(models, "--profile", profile)...)
	if err != nil {
		return tally{}, err
	}
	defer stop()
	for _, model := range verifyModels {
		fmt.Fprintf(out, "%s, %s profile\n", model, profile)
		count, err := countLine(ctx, out, "bin/diglot", "verify", "--base-url", base, "--model", model,
			"--embedding-model", testEncoder, "--profile", profile, "--marks", "--parallel", "2", "--timeout", "5m")
		total.add(count)
		if err != nil {
			return total, err
		}
		fmt.Fprintf(out, "%sverify, %s, %s profile: %d passed, %d skipped\n", note, model, profile, count.passed, count.skipped)
	}
	return total, nil
}

// serveModels starts a server on a free port, which ends with stop.
func serveModels(ctx context.Context, out io.Writer, args ...string) (base string, stop func(), err error) {
	home, err := os.MkdirTemp("", "verify")
	if err != nil {
		return "", nil, err
	}
	cmd := exec.CommandContext(ctx, "bin/diglot", append([]string{"serve", "--listen", "127.0.0.1:0", "--socket", "none"}, args...)...)
	cmd.Env = append(os.Environ(), "DIGLOT_HOME="+home)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	said, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return "", nil, err
	}
	lines := bufio.NewScanner(said)
	for base == "" && lines.Scan() {
		_, base, _ = strings.Cut(lines.Text(), "listening on ")
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		_, _ = io.Copy(io.Discard, said)
	}()
	stop = func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-drained
		_, _ = cmd.Wait(), os.RemoveAll(home)
	}
	if base == "" {
		stop()
		return "", nil, fmt.Errorf("diglot serve did not start")
	}
	return base, stop, nil
}
