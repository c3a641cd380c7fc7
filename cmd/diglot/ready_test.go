package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// TestDrain sends signals to a whole server: after the first, requests are
// answered and /readyz sends new ones elsewhere; the second ends it.
func TestDrain(t *testing.T) {
	script := write(t, "script.yaml", `models: {m: {replies: [{pieces: [hello]}]}}`)
	program := exec.CommandContext(t.Context(), os.Args[0], "serve", "--script", script, "--listen", "127.0.0.1:0", "--socket", "none", "--drain", "1h")
	program.Env = []string{"HOME=" + t.TempDir()}
	stderr, err := program.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(stderr)
	line, err := lines.ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if err != nil || !ok {
		t.Fatalf("the first line is %q, error %v", line, err)
	}
	for statusOf(t, url+"/readyz") != http.StatusOK { // it listens before it is ready; the limit of all tests ends the wait
	}
	if err := program.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	readUntil(t, lines, "draining")
	if status := statusOf(t, url+"/readyz"); status != http.StatusServiceUnavailable {
		t.Errorf("after the signal: /readyz has status %d", status)
	}
	if status := statusOf(t, url+"/health"); status != http.StatusOK {
		t.Errorf("after the signal: /health has status %d", status)
	}
	for _, style := range styles {
		reply := post(t, url+style.path, fmt.Sprintf(style.body, "hello"))
		if body, err := io.ReadAll(reply.Body); err != nil || !strings.Contains(string(body), style.end) {
			t.Errorf("after the signal: status %d, error %v:\n%s", reply.StatusCode, err, body)
		}
	}
	if err := program.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, lines)
	var ended *exec.ExitError
	if err := program.Wait(); !errors.As(err, &ended) || ended.ExitCode() != -1 {
		t.Errorf("the second signal: %v, want an end by the signal", err)
	}
}

func statusOf(t *testing.T, url string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = reply.Body.Close()
	return reply.StatusCode
}
