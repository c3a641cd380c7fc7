package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"

	"github.com/diglot/diglot/openapi"
)

// buildReplay builds diglot without local models, and returns its path.
func buildReplay(ctx context.Context) (string, error) {
	program, err := filepath.Abs(".cache/suites/diglot")
	if err != nil {
		return "", err
	}
	_, err = output(ctx, []string{"CGO_ENABLED=0"}, "go", "build", "-o", program, "./cmd/diglot")
	return program, err
}

var listening = regexp.MustCompile(`listening on (http://[0-9.:]+)`)

// serve runs "diglot replay" with replies that are made from their requests, under one
// profile, and returns its URL.
func serve(ctx context.Context, program string, profile openapi.Profile) (url string, stop func(), err error) {
	cmd := exec.CommandContext(ctx, program, "replay", "--listen", "127.0.0.1:0", "--model", "mock", "--profile", string(profile))
	log, err := cmd.StderrPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // fails only if it has ended
		_ = cmd.Wait()                          // it ends by the signal
	}
	lines := bufio.NewReader(log)
	line, err := lines.ReadString('\n')
	found := listening.FindStringSubmatch(line)
	if err != nil || found == nil {
		stop()
		return "", nil, fmt.Errorf("diglot replay says %q: %w", line, err)
	}
	go io.Copy(io.Discard, lines) // until it ends
	return found[1], stop, nil
}
