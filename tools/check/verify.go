package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
)

// built is the program that tools/build makes.
const built = "bin/diglot"

// verifyRun is one run of diglot verify: all scenarios over a model in a profile.
type verifyRun struct{ model, profile string }

// verifyRuns begin with the model that finds a fault soonest.
var verifyRuns = []verifyRun{
	{testModel, "default"}, {testModel, "document"}, {visionModel, "default"}, {visionModel, "document"},
}

// verify runs "diglot verify" against this server over real models. What
// a model cannot do is skipped, and printed; the tests of cmd/diglot/internal/contract run
// that over a mock engine. Like go test, it does not repeat what passed with the same program
// and models.
func verify(ctx context.Context, out io.Writer) (tally, error) {
	if err := execute(ctx, out, nil, "go", "run", "./tools/build"); err != nil {
		return tally{}, err
	}
	files := []string{built}
	var models []string
	for _, name := range []string{testEncoder, testModel, visionModel} {
		file, err := fetchModel(ctx, out, name)
		if err != nil {
			return tally{}, err
		}
		files, models = append(files, file), append(models, "--model", name+"="+file)
	}
	var total tally
	for _, r := range verifyRuns {
		known, err := passedBefore(files, slices.Concat(r.server(), r.arguments())...)
		if err != nil {
			return total, err
		}
		count, cached := known.load()
		if !cached {
			if count, err = r.verify(ctx, out, models); err == nil {
				err = known.store(count)
			}
		}
		total.add(count)
		if err != nil {
			return total, err
		}
		fmt.Fprintf(out, "%sverify, %s, %s profile: %d passed, %d skipped%s\n", note, r.model, r.profile, count.passed, count.skipped, map[bool]string{true: " (cached)"}[cached])
	}
	return total, nil
}

// verify starts a server of the profile and verifies the model.
func (r verifyRun) verify(ctx context.Context, out io.Writer, models []string) (tally, error) {
	base, stop, err := serveModels(ctx, out, append(models, r.server()...)...)
	if err != nil {
		return tally{}, err
	}
	defer stop()
	fmt.Fprintf(out, "%s, %s profile\n", r.model, r.profile)
	return countLine(ctx, out, built, append([]string{"verify", "--base-url", base}, r.arguments()...)...)
}

func (r verifyRun) server() []string { return []string{"--profile", r.profile} }

func (r verifyRun) arguments() []string {
	return []string{"--model", r.model, "--embedding-model", testEncoder,
		"--profile", r.profile, "--marks", "--parallel", "4", "--timeout", "5m"}
}

// serveModels starts a server on a free port, which ends with stop.
func serveModels(ctx context.Context, out io.Writer, args ...string) (base string, stop func(), err error) {
	home, err := os.MkdirTemp("", "verify")
	if err != nil {
		return "", nil, err
	}
	cmd := exec.CommandContext(ctx, built, append([]string{"serve", "--listen", "127.0.0.1:0", "--socket", "none"}, args...)...)
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
