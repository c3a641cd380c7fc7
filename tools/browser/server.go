package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"time"
)

var listening = regexp.MustCompile(`listening on (http://\S+)`)

// startServer starts a server over the script, with a home of its own, and returns its URL,
// which ends in a slash.
func startServer(program, home string, args ...string) (url string, stop func(), err error) {
	args = append([]string{"serve", "--listen", "127.0.0.1:0", "--drain", "0s", "--script", filepath.Join(folder, "testdata/script.yaml")}, args...)
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), "DIGLOT_HOME="+home, "DIGLOT_API_KEY=")
	log, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return "", nil, err
	}
	stop = func() {
		_ = cmd.Process.Signal(os.Interrupt)
		timer := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		timer.Stop()
	}
	if url, err = waitForURL(log); err != nil {
		stop()
		return "", nil, err
	}
	return url, stop, nil
}

// waitForURL reads the server's URL from its log. It drains the rest, so that the server
// does not block.
func waitForURL(log io.Reader) (string, error) {
	lines := bufio.NewScanner(log)
	said := ""
	for lines.Scan() {
		if found := listening.FindStringSubmatch(lines.Text()); found != nil {
			go func() { _, _ = io.Copy(io.Discard, log) }()
			return found[1] + "/", nil
		}
		said += lines.Text() + "\n"
	}
	return "", errors.New("the server ended before it listened:\n" + said)
}
