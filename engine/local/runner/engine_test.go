package runner

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/google/go-cmp/cmp"
)

// supervise returns an Engine, closed after the test, and its log.
func supervise(t *testing.T, hang time.Duration, models ...Model) (*Engine, *logBuffer) {
	t.Helper()
	log := &logBuffer{}
	e, err := New(t.Context(), Config{Models: models, Log: slog.New(slog.NewTextHandler(log, nil)), HangTimeout: hang})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e, log
}

type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// pid asks model m for its process ID.
func pid(t *testing.T, e engine.Engine) int {
	t.Helper()
	said, err := ask(t, e, order("m", "pid"))
	if err != nil {
		t.Fatal(err)
	}
	number, _, _ := strings.Cut(said, " ")
	n, err := strconv.Atoi(number)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// kill sends SIGKILL, like the OOM killer.
func kill(t *testing.T, pid int) {
	t.Helper()
	process, err := os.FindProcess(pid)
	if err == nil {
		err = process.Kill()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestNamesAndModels(t *testing.T) {
	file := filepath.Join(t.TempDir(), "weights")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	changed := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
	if err := os.Chtimes(file, changed, changed); err != nil {
		t.Fatal(err)
	}
	m := puppetModel("m", "puppet")
	m.File = file
	e, _ := supervise(t, 0, puppetModel("z:latest", "puppet"), m)
	models, err := e.Models(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range models {
		models[i].Changed = models[i].Changed.UTC()
	}
	want := []engine.Model{{Name: "m", Owner: "library", Changed: changed}, {Name: "z:latest", Owner: "library"}}
	if diff := cmp.Diff(want, models); diff != "" {
		t.Errorf("models (-want +got):\n%s", diff)
	}
	for _, tt := range []struct{ name, want string }{
		{"m", "m"}, {"m:latest", "m"}, {"z", "z:latest"}, {"z:latest", "z:latest"}, {"m:7b", ""}, {"", ""},
	} {
		said, err := ask(t, e, order(tt.name, "pid"))
		if tt.want == "" {
			if code(t, err) != engine.CodeModelNotFound {
				t.Errorf("model %q: error %v", tt.name, err)
			}
			continue
		}
		if _, got, _ := strings.Cut(said, " "); err != nil || got != tt.want {
			t.Errorf("model %q: the process was asked for %q, want %q; error %v", tt.name, got, tt.want, err)
		}
	}
	models, err = e.Models(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range models {
		if m.Context != 4096 {
			t.Errorf("model %q runs with a context of %d tokens, want 4096", m.Name, m.Context)
		}
	}
	_, err = New(t.Context(), Config{Models: []Model{{Name: "a"}, {Name: "a:latest"}}, Log: slog.New(slog.DiscardHandler)})
	if err == nil {
		t.Error("one model with two names was taken twice")
	}
}

func TestOneProcessForAll(t *testing.T) {
	e, _ := supervise(t, 0, puppetModel("m", "puppet"))
	pids := make([]int, 16)
	var asking sync.WaitGroup
	for i := range pids {
		asking.Go(func() { pids[i] = pid(t, e) })
	}
	asking.Wait()
	for _, p := range pids {
		if p != pids[0] || p == os.Getpid() {
			t.Fatalf("processes %v, want one and not %d", pids, os.Getpid())
		}
	}
}

// TestKilledInMidStream: SIGKILL fails the requests in the process and nothing else.
func TestKilledInMidStream(t *testing.T) {
	e, log := supervise(t, 0, puppetModel("m", "puppet"), puppetModel("other", "puppet"))
	if err := e.Load(t.Context(), "other"); err != nil {
		t.Fatal(err)
	}
	for round := range 5 {
		victim := pid(t, e)
		var last error
		for event, err := range e.Generate(t.Context(), order("m", fmt.Sprint("stall ", round))) {
			last = err
			if _, ok := event.(engine.TextDelta); ok {
				kill(t, victim)
			}
		}
		if code(t, last) != engine.CodeEngineCrashed || engine.AsError(last).NoRetry {
			t.Errorf("round %d: error %#v, want code %q that may be tried again", round, last, engine.CodeEngineCrashed)
		}
		if next := pid(t, e); next == victim {
			t.Errorf("round %d: process %d answers after its end", round, victim)
		}
	}
	if got := log.String(); !strings.Contains(got, `msg="model process ended" model=m status="signal: killed"`) {
		t.Errorf("the log does not say that the process was killed:\n%s", got)
	}
}

// TestKilledBetweenRequests: no client notices when an idle process is killed.
func TestKilledBetweenRequests(t *testing.T) {
	e, _ := supervise(t, 0, puppetModel("m", "puppet"))
	for range 5 {
		kill(t, pid(t, e))
	}
	pid(t, e)
}

// TestVariables: a process gets the configured environment and inherits none.
func TestVariables(t *testing.T) {
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	for _, want := range [][]string{nil, {"TZ=Europe/Berlin", "GOGC=50"}} {
		e, err := New(t.Context(), Config{
			Models: []Model{puppetModel("m", "puppet")}, Log: slog.New(slog.DiscardHandler), Variables: want,
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = e.Close() })
		got, err := ask(t, e, order("m", "environ"))
		if err != nil || got != strings.Join(want, "\n") {
			t.Errorf("variables %q, want %q; error %v", got, want, err)
		}
	}
}

// TestRequestThatCrashes: a request that ran alone is the cause and is refused; others
// are not delayed.
func TestRequestThatCrashes(t *testing.T) {
	e, log := supervise(t, 0, puppetModel("m", "puppet"))
	for i, text := range []string{"die 1", "die 2", "die 3", "die 4"} { // more than freeCrashes
		before := pid(t, e)
		_, err := ask(t, e, order("m", text))
		if code(t, err) != engine.CodeEngineCrashed || !engine.AsError(err).NoRetry {
			t.Errorf("%q: %#v, want code %q that is not tried again", text, err, engine.CodeEngineCrashed)
		}
		after := pid(t, e)
		if after == before {
			t.Errorf("%q did not end process %d", text, before)
		}
		_, err = ask(t, e, order("m", text))
		if code(t, err) != engine.CodeEngineCrashed || !engine.AsError(err).NoRetry || !strings.Contains(err.Error(), "is refused for 1m0s") {
			t.Errorf("%q again: %#v, want it refused", text, err)
		}
		if now := pid(t, e); now != after {
			t.Errorf("round %d: process %d answers after %d: the request was not refused", i, now, after)
		}
	}
	got := log.String()
	if !strings.Contains(got, `msg="model process output" model=m line="fatal: die 1"`) {
		t.Errorf("what the process says is not in the log:\n%s", got)
	}
	if strings.Contains(got, "start_in") {
		t.Errorf("the next start had to wait:\n%s", got)
	}
}

// TestCrashOfSeveral: concurrent requests are answered on retry, and the cause is
// found.
func TestCrashOfSeveral(t *testing.T) {
	e, log := supervise(t, 0, puppetModel("m", "puppet"))
	var bystander error
	for event, err := range e.Generate(t.Context(), order("m", "stall 1")) {
		bystander = err
		if _, ok := event.(engine.TextDelta); ok {
			if _, err := ask(t, e, order("m", "die 1")); code(t, err) != engine.CodeEngineCrashed || engine.AsError(err).NoRetry {
				t.Errorf("the cause: %#v, want an error that may be tried again", err)
			}
		}
	}
	if code(t, bystander) != engine.CodeEngineCrashed || engine.AsError(bystander).NoRetry {
		t.Errorf("the other: %#v, want an error that may be tried again", bystander)
	}
	if _, err := ask(t, e, order("m", "die 1")); code(t, err) != engine.CodeEngineCrashed || !engine.AsError(err).NoRetry {
		t.Errorf("the cause again: %#v, want one that is not tried again", err)
	}
	for event, err := range e.Generate(t.Context(), order("m", "stall 1")) {
		if err != nil {
			t.Errorf("the other again: %v", err)
		}
		if _, ok := event.(engine.TextDelta); ok {
			break // it is answered
		}
	}
	if got := log.String(); strings.Contains(got, "start_in") {
		t.Errorf("a start had to wait:\n%s", got)
	}
}

func TestUnloadable(t *testing.T) {
	for _, tt := range []struct {
		name  string
		model Model
		code  engine.Code
		log   string
		loads int // that two requests try
	}{
		{"broken file", puppetModel("m", "broken"), engine.CodeInternal, "/secret/path: not a model", 1},
		{"too large", puppetModel("m", "large"), engine.CodeUnsupported, "The model needs 5 GB.", 1},
		{"dies while loading", puppetModel("m", "dies"), engine.CodeEngineCrashed, "exit status 7", 2},
		{"lies about itself", puppetModel("m", "liar about itself"), engine.CodeEngineCrashed, "model process breaks the protocol", 2},
		{"no such program", Model{Name: "m", Command: []string{"/secret/path/nobody"}}, engine.CodeInternal, "/secret/path/nobody", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, log := supervise(t, 0, tt.model)
			for i := range 2 {
				_, err := ask(t, e, order("m", "pid"))
				coded := engine.AsError(err)
				noRetry := tt.code == engine.CodeInternal || tt.code == engine.CodeEngineCrashed && i > 0 // from the second crash on
				if code(t, err) != tt.code || coded.NoRetry != noRetry || strings.Contains(coded.Message, "secret") {
					t.Errorf("request %d: error %#v, want code %q", i, err, tt.code)
				}
			}
			if got := log.String(); strings.Count(got, "model cannot be loaded") != tt.loads || !strings.Contains(got, tt.log) {
				t.Errorf("want %d failures with %q in the log:\n%s", tt.loads, tt.log, got)
			}
			if err := e.Load(t.Context(), "m"); code(t, err) != tt.code {
				t.Errorf("load: error %v, want code %q", err, tt.code)
			}
		})
	}
}

func TestHangingProcessIsEnded(t *testing.T) {
	e, log := supervise(t, 50*time.Millisecond, puppetModel("m", "puppet"))
	if _, err := ask(t, e, order("m", "stall")); code(t, err) != engine.CodeEngineCrashed {
		t.Errorf("error %v, want code %q", err, engine.CodeEngineCrashed)
	}
	if got := log.String(); !strings.Contains(got, "model process hangs") {
		t.Errorf("the log does not say so:\n%s", got)
	}
	pid(t, e)
}

func TestCloseEndsAll(t *testing.T) {
	e, _ := supervise(t, 0, puppetModel("m", "puppet"))
	p := pid(t, e)
	var last error
	for event, err := range e.Generate(t.Context(), order("m", "stall")) {
		last = err
		if _, ok := event.(engine.TextDelta); ok {
			_ = e.Close()
		}
	}
	if code(t, last) != engine.CodeOverloaded {
		t.Errorf("running request: %v, want code %q", last, engine.CodeOverloaded)
	}
	if process, err := os.FindProcess(p); err == nil && process.Signal(syscall.Signal(0)) == nil {
		t.Errorf("process %d is still there", p)
	}
	if _, err := ask(t, e, order("m", "pid")); code(t, err) != engine.CodeOverloaded {
		t.Errorf("next request: %v, want code %q", err, engine.CodeOverloaded)
	}
}

func TestClientLeavesLoading(t *testing.T) {
	e, _ := supervise(t, 0, puppetModel("m", "puppet"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range e.Generate(ctx, order("m", "pid")) {
		if code(t, err) != engine.CodeCanceled {
			t.Errorf("error %v, want code %q", err, engine.CodeCanceled)
		}
	}
	pid(t, e)
}

// TestOrphanEnds: a child exits after its parent is killed.
func TestOrphanEnds(t *testing.T) {
	parent := exec.CommandContext(t.Context(), os.Args[0], "child", "parent")
	parent.Stderr = os.Stderr
	stdin, err := parent.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	path, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	path = strings.TrimSpace(path)
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(conn); err != nil && !strings.Contains(err.Error(), "reset") {
		t.Errorf("reading until the child's end: %v", err)
	}
	_ = parent.Wait()
	if _, err := os.Stat(filepath.Dir(path)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket's folder is left behind: %v", err)
	}
}

func TestActivity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a activity
		expect := func(step string, want time.Duration) {
			t.Helper()
			if got := a.silence(); got != want {
				t.Errorf("%s: silent for %v, want %v", step, got, want)
			}
		}
		time.Sleep(time.Hour)
		expect("nothing to do", 0)
		a.begin()
		time.Sleep(time.Second)
		expect("waiting", time.Second)
		a.begin()
		time.Sleep(time.Second)
		expect("a second one", 2*time.Second)
		a.end()
		time.Sleep(time.Second)
		expect("progress of one", time.Second)
		a.end()
		time.Sleep(time.Hour)
		expect("slow readers", 0)
	})
}

func TestLineLog(t *testing.T) {
	log := &logBuffer{}
	l := &lineLog{log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == "line" {
				return a
			}
			return slog.Attr{}
		},
	}))}
	for _, part := range []string{"one\ntw", "o\n\n", strings.Repeat("x", maxLine), "xx", "\nthree\nfo"} {
		if n, err := l.Write([]byte(part)); n != len(part) || err != nil {
			t.Errorf("wrote %d of %d bytes, error %v", n, len(part), err)
		}
	}
	want := "line=one\nline=two\nline=" + strings.Repeat("x", maxLine) + "\nline=three\n"
	if diff := cmp.Diff(want, log.String()); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}
