package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"time"
)

var listening = regexp.MustCompile(`listening on (http://[^\s,]+)`)

// serverProgram returns bin/diglot for a model, which needs llama.cpp. For a script, and
// for images, it builds a server without cgo, which remove deletes.
func serverProgram(ctx context.Context, model string, images bool) (program string, remove func(), err error) {
	if model == "" || images {
		return buildWithoutCgo(ctx)
	}
	program, err = filepath.Abs(filepath.Join(root, "bin", "diglot"))
	return program, func() {}, err
}

// serverArguments are those of diglot on a free port: it replays recordings if nothing but
// what asks for them runs.
func serverArguments(model string, chosen []suite) []string {
	switch {
	case model != "":
		return []string{"serve", "--listen", "127.0.0.1:0", "--model", model, "--context", "4096"}
	case !slices.ContainsFunc(chosen, func(s suite) bool { return !s.plays }):
		return []string{"replay", "--listen", "127.0.0.1:0"}
	}
	return []string{"serve", "--listen", "127.0.0.1:0", "--script", filepath.Join(root, "cassettes", "script.yaml")}
}

// startServer starts diglot and waits until it listens.
func startServer(program string, args []string) (address string, stop func(), err error) {
	home, err := os.MkdirTemp("", "diglot-sdk-home-") // keeps the user's models out of tests
	if err != nil {
		return "", nil, err
	}
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), "DIGLOT_HOME="+home)
	log, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(home))
	}
	stop = func() {
		defer os.RemoveAll(home)
		cmd.Process.Signal(os.Interrupt)
		timer := time.AfterFunc(10*time.Second, func() { cmd.Process.Kill() })
		cmd.Wait()
		timer.Stop()
	}
	address, err = waitForAddress(log)
	if err != nil {
		stop()
		return "", nil, err
	}
	return address, stop, nil
}

// buildWithoutCgo builds the server into a temporary folder.
func buildWithoutCgo(ctx context.Context) (program string, remove func(), err error) {
	folder, err := os.MkdirTemp("", "diglot-sdk-")
	if err != nil {
		return "", nil, err
	}
	remove = func() { os.RemoveAll(folder) }
	program = filepath.Join(folder, "diglot")
	cmd := exec.CommandContext(ctx, "go", "-C", root, "build", "-o", program, "./cmd/diglot")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		remove()
		return "", nil, fmt.Errorf("building the server: %w", err)
	}
	return program, remove, nil
}

// waitForAddress reads the server's address from its log. It drains the rest, so that
// the server does not block.
func waitForAddress(log io.Reader) (string, error) {
	lines := bufio.NewScanner(log)
	said := ""
	for lines.Scan() {
		if found := listening.FindStringSubmatch(lines.Text()); found != nil {
			go io.Copy(io.Discard, log)
			return found[1], nil
		}
		said += lines.Text() + "\n"
	}
	return "", errors.New("the server ended before it listened:\n" + said)
}
