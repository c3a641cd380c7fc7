package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/diglot/diglot/cmd/diglot/internal/serving"
	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/handlers"
	"github.com/diglot/diglot/handlers/handlerstest"
)

// server is a running diglot serve.
type server struct {
	url    string
	stdout *output
	log    *output // standard error but for the line with the address
	stop   context.CancelFunc
	ended  chan int      // the exit status
	logged chan struct{} // closed when the log is complete
}

// output is a buffer for two goroutines.
type output struct {
	mu    sync.Mutex
	buf   bytes.Buffer
	waits []chan struct{} // closed by the next write
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, w := range o.waits {
		close(w)
	}
	o.waits = nil
	return o.buf.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// start runs diglot serve on a free port until the test ends, for a user who
// has no home.
func start(t *testing.T, args ...string) *server {
	t.Helper()
	return startFor(t, func(string) string { return "" }, args...)
}

// startFor is start for a user with an environment.
func startFor(t *testing.T, getenv func(string) string, args ...string) *server {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s := &server{stdout: &output{}, log: &output{}, stop: cancel, ended: make(chan int, 1)}
	stderr, out := io.Pipe()
	go func() {
		args := append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)
		s.ended <- run(ctx, args, environment{stdout: s.stdout, stderr: out, getenv: getenv})
		_ = out.Close()
	}()
	lines := bufio.NewReader(stderr)
	url, ok := "", false
	for !ok {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("no address in:\n%s%s", s.log, line)
		}
		if url, ok = strings.CutPrefix(strings.TrimSpace(line), "listening on "); !ok {
			_, _ = s.log.Write([]byte(line))
		}
	}
	s.logged = make(chan struct{})
	go func() {
		defer close(s.logged)
		_, _ = io.Copy(s.log, lines)
	}()
	t.Cleanup(func() {
		cancel()
		<-s.logged
	})
	s.url = url
	return s
}

// post sends a JSON body and returns the reply, whose body the caller reads.
func post(t *testing.T, url, body string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	reply, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = reply.Body.Close() })
	return reply
}

// styles are the two ways to ask for a stream.
var styles = []struct{ name, path, body, crash, end string }{
	{
		"openai", "/v1/chat/completions",
		`{"model": "m", "stream": true, "max_tokens": 64, "messages": [{"role": "user", "content": %q}]}`,
		`data: {"error":`, "data: [DONE]",
	},
	{
		"anthropic", "/v1/messages",
		`{"model": "m", "stream": true, "max_tokens": 64, "messages": [{"role": "user", "content": %q}]}`,
		"event: error", "event: message_stop",
	},
}

// TestGreeting pastes the printed commands into a shell, where curl is a
// function that shows its arguments.
func TestGreeting(t *testing.T) {
	script := write(t, "script.yaml", `models: {"it's": {replies: [{pieces: [Hello, " there"]}]}}`)
	s := start(t, "--script", script)
	// A reply means that the greeting is complete.
	_ = post(t, s.url+"/v1/messages", "{}")
	var commands []string
	for line := range strings.Lines(s.stdout.String()) {
		if command, ok := strings.CutPrefix(strings.TrimSpace(line), "curl "); ok {
			commands = append(commands, "curl "+command)
		}
	}
	if len(commands) != 2 {
		t.Fatalf("%d commands, want one for each style:\n%s", len(commands), s.stdout)
	}
	for _, command := range commands {
		shown, err := exec.CommandContext(t.Context(), "sh", "-c", `curl() { printf '%s\0' "$@"; }; `+command).Output()
		if err != nil {
			t.Fatal(err)
		}
		args := strings.Split(strings.TrimSuffix(string(shown), "\x00"), "\x00")
		reply := post(t, args[1], args[len(args)-1])
		body, err := io.ReadAll(reply.Body)
		if err != nil || reply.StatusCode != http.StatusOK || !strings.Contains(string(body), "Hello") {
			t.Errorf("%s\nstatus %d, error %v:\n%s", command, reply.StatusCode, err, body)
		}
	}
	if !strings.Contains(s.stdout.String(), "base URL "+s.url+"/v1\n") || !strings.Contains(s.stdout.String(), "base URL "+s.url+"\n") {
		t.Errorf("the base URLs are not in:\n%s", s.stdout)
	}
}

func TestReachable(t *testing.T) {
	for _, tt := range []struct{ addr, want string }{
		{"127.0.0.1:8", "127.0.0.1:8"}, {"0.0.0.0:8", "127.0.0.1:8"}, {"[::]:8", "127.0.0.1:8"}, {"[::1]:8", "[::1]:8"}, {"10.0.0.1:8", "10.0.0.1:8"},
	} {
		addr, err := net.ResolveTCPAddr("tcp", tt.addr)
		if err != nil {
			t.Fatal(err)
		}
		if got := reachable(addr); got != tt.want {
			t.Errorf("%s is reached at %s, want %s", tt.addr, got, tt.want)
		}
	}
}

// TestShutdown ends the server while a reply is being sent: the reply is
// sent to its end.
func TestShutdown(t *testing.T) {
	script := write(t, "script.yaml", `models: {m: {replies: [{pieces: [first, {sleep: 50ms}, last]}]}}`)
	for _, style := range styles {
		t.Run(style.name, func(t *testing.T) {
			s := start(t, "--script", script)
			body := bufio.NewReader(post(t, s.url+style.path, fmt.Sprintf(style.body, "hello")).Body)
			readUntil(t, body, "first")
			s.stop()
			rest, err := io.ReadAll(body)
			if err != nil || !strings.Contains(string(rest), "last") || !strings.Contains(string(rest), style.end) {
				t.Errorf("error %v after:\n%s", err, rest)
			}
			if status := <-s.ended; status != 0 {
				t.Errorf("exit status %d", status)
			}
			<-s.logged
			if log := s.log.String(); !strings.Contains(log, `waiting up to 10s for running requests; another signal or Ctrl-C stops at once" requests=1`) {
				t.Errorf("the log:\n%s", log)
			}
			if conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://")); err == nil {
				_ = conn.Close()
				t.Error("the server still listens")
			}
		})
	}
}

func TestTrace(t *testing.T) {
	script := write(t, "script.yaml", `models: {m: {replies: [{pieces: [hello]}]}}`)
	trace := filepath.Join(t.TempDir(), "trace")
	s := start(t, "--script", script, "--trace", trace)
	for _, style := range styles {
		if _, err := io.ReadAll(post(t, s.url+style.path, fmt.Sprintf(style.body, "hello")).Body); err != nil {
			t.Fatal(err)
		}
	}
	s.stop()
	<-s.ended
	content, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	if len(lines) != len(styles) {
		t.Errorf("%d lines, want %d", len(lines), len(styles))
	}
	for _, line := range lines {
		var entry map[string]any
		if err := json.Unmarshal([]byte(line), &entry); err != nil || entry["model"] != "m" || entry["prompt"] == "" {
			t.Errorf("line %s, error %v", line, err)
		}
	}
	if info, err := os.Stat(trace); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, error %v; the trace holds prompts", info.Mode(), err)
	}
}

// TestCutOff has a reply that never ends: after the grace its client is told
// why it gets no more, whoever computes it.
func TestCutOff(t *testing.T) {
	script := write(t, "script.yaml", `models: {m: {replies: [{pieces: [first], finish: stall}]}}`)
	log := slog.New(slog.DiscardHandler)
	for name, open := range map[string]func(t *testing.T) engine.Engine{
		"a process": func(t *testing.T) engine.Engine {
			return openChild(t, os.Args[0], "scripted", script)
		},
		"a script": func(t *testing.T) engine.Engine {
			scripted, _, err := openScript(script, log)
			if err != nil {
				t.Fatal(err)
			}
			return engine.Mux(scripted)
		},
	} {
		for _, style := range styles {
			t.Run(name+"/"+style.name, func(t *testing.T) { testCutOff(t, open(t), style.path, fmt.Sprintf(style.body, "hello"), style.crash) })
		}
	}
}

func testCutOff(t *testing.T, e engine.Engine, path, body, crash string) {
	log := slog.New(slog.DiscardHandler)
	shutdown, cutOff := context.WithCancel(t.Context())
	defer cutOff()
	handler, err := handlers.New(handlers.Config{Engine: e, Log: log, Shutdown: shutdown})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	s := serving.Service{Handler: handlerstest.Contract(t, handler), Grace: time.Millisecond, CutOff: cutOff, Log: log}
	go func() { ended <- s.Serve(ctx, l) }()
	reply := bufio.NewReader(post(t, "http://"+l.Addr().String()+path, body).Body)
	readUntil(t, reply, "first")
	stop()
	rest, err := io.ReadAll(reply)
	if err != nil || !strings.Contains(string(rest), crash) || !strings.Contains(string(rest), "shutting down") {
		t.Errorf("error %v after:\n%s", err, rest)
	}
	if err := <-ended; err != nil {
		t.Errorf("the server ended with %v", err)
	}
}

// TestKilledRunner kills the process of a model while it answers: a client
// of each style gets its style's error frame, and the next request works.
func TestKilledRunner(t *testing.T) {
	script := write(t, "script.yaml", `
models:
  m:
    replies:
      - when: {contains: stall}
        pieces: [first]
        finish: stall
      - pieces: [hello]
`)
	pidFile := filepath.Join(t.TempDir(), "pid")
	url := serveEngine(t, openChild(t, "sh", "-c", `echo $$ > "$1"; exec "$2" scripted "$3"`, "sh", pidFile, os.Args[0], script))
	for _, style := range styles {
		t.Run(style.name, func(t *testing.T) {
			body := bufio.NewReader(post(t, url+style.path, fmt.Sprintf(style.body, "stall")).Body)
			readUntil(t, body, "first")
			pid, err := os.ReadFile(pidFile)
			if err != nil {
				t.Fatal(err)
			}
			kill(t, string(pid))
			rest, err := io.ReadAll(body)
			if err != nil || !strings.Contains(string(rest), style.crash) {
				t.Errorf("error %v after:\n%s", err, rest)
			}
			reply := post(t, url+style.path, fmt.Sprintf(style.body, "hello"))
			next, err := io.ReadAll(reply.Body)
			if err != nil || !strings.Contains(string(next), style.end) {
				t.Errorf("the next request: status %d, error %v:\n%s", reply.StatusCode, err, next)
			}
		})
	}
}

// readUntil reads lines until one holds text.
func readUntil(t *testing.T, r *bufio.Reader, text string) {
	t.Helper()
	for {
		line, err := r.ReadString('\n')
		if strings.Contains(line, text) {
			return
		}
		if err != nil {
			t.Fatalf("no %q: %v", text, err)
		}
	}
}

func kill(t *testing.T, pid string) {
	t.Helper()
	number, err := strconv.Atoi(strings.TrimSpace(pid))
	if err != nil {
		t.Fatal(err)
	}
	process, err := os.FindProcess(number)
	if err == nil {
		err = process.Kill()
	}
	if err != nil {
		t.Fatal(err)
	}
}
