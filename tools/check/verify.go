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

// verifyRun is one run of diglot verify.
type verifyRun struct {
	model, profile string
	only           []string // patterns of scenarios; none: all
}

// verifyRuns are what a test run has time for: each model in each profile, and of the scenarios
// those that hold replies of a real model against the documents, and of the larger model what
// needs more sense. The tests over the mock engine have the others, and the long step runs all
// of them over real models.
var verifyRuns = []verifyRun{
	{testModel, "default", []string{
		"*/field/*", "*/examples", "*/http/*", "*/reply-*", "*/error-kinds", "*/stream-*", "*/embeddings/*",
		"*/finish/*", "*/chat/stop/*", "*/messages/tool-choice-*", "*/messages/tool-arguments-*", "*/chat/text-stays-text-user",
	}},
	{testModel, "document", []string{"*/chat/field/*", "*/messages/field/*"}},
	{visionModel, "default", []string{
		"*/examples", "*/chat/reply-*", "*/chat/stream-*", "*/chat/tool-choice-*", "*/chat/json-mode", "*/messages/*/same-text", "*/responses/finish/*",
	}},
	{visionModel, "document", []string{"*/messages/examples", "*/messages/reply-*", "*/messages/http/*", "*/messages/finish/*"}},
}

// verify runs "diglot verify" against this server over a real model. What
// a model cannot do is skipped, and printed; the tests of cmd/diglot/internal/contract run
// that over a mock engine.
func verify(ctx context.Context, out io.Writer) (tally, error) {
	return verifyOver(ctx, out, verifyRuns)
}

// verifyAll runs all scenarios over each model and in each profile.
func verifyAll(ctx context.Context, out io.Writer) (tally, error) {
	var runs []verifyRun
	for _, profile := range []string{"default", "document"} {
		for _, model := range []string{testModel, visionModel} {
			runs = append(runs, verifyRun{model: model, profile: profile})
		}
	}
	return verifyOver(ctx, out, runs)
}

func verifyOver(ctx context.Context, out io.Writer, runs []verifyRun) (tally, error) {
	if err := execute(ctx, out, nil, "go", "run", "./tools/build"); err != nil {
		return tally{}, err
	}
	var models []string
	for _, name := range []string{testEncoder, testModel, visionModel} {
		file, err := fetchModel(ctx, out, name)
		if err != nil {
			return tally{}, err
		}
		models = append(models, "--model", name+"="+file)
	}
	var total tally
	for _, r := range runs {
		count, err := r.verify(ctx, out, models)
		total.add(count)
		if err != nil {
			return total, err
		}
		fmt.Fprintf(out, "%sverify, %s, %s profile: %d passed, %d skipped\n", note, r.model, r.profile, count.passed, count.skipped)
	}
	return total, nil
}

// verify starts a server of the profile and verifies the model.
func (r verifyRun) verify(ctx context.Context, out io.Writer, models []string) (tally, error) {
	base, stop, err := serveModels(ctx, out, append(models, "--profile", r.profile)...)
	if err != nil {
		return tally{}, err
	}
	defer stop()
	fmt.Fprintf(out, "%s, %s profile\n", r.model, r.profile)
	args := []string{"verify", "--base-url", base, "--model", r.model, "--embedding-model", testEncoder,
		"--profile", r.profile, "--marks", "--parallel", "2", "--timeout", "5m"}
	for _, pattern := range r.only {
		args = append(args, "--only", pattern)
	}
	return countLine(ctx, out, "bin/diglot", args...)
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
