//go:build unix

package runner

import (
	"context"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/diglot/diglot/engine"
	"github.com/diglot/diglot/engine/local/confine"
)

// TestStoppedProcessIsEnded: a process that does not even accept requests is killed,
// and the next process answers them, as they were not delivered.
func TestStoppedProcessIsEnded(t *testing.T) {
	large := order("m", "pid")
	large.Messages = append(order("m", strings.Repeat("much ", 1<<20)).Messages, large.Messages...)
	for name, req := range map[string]*engine.Request{"a small request": order("m", "pid"), "a large request": large} {
		e, log := supervise(t, 500*time.Millisecond, puppetModel("m", "puppet"))
		stopped := pid(t, e)
		if err := syscall.Kill(stopped, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		var status syscall.WaitStatus
		if _, err := syscall.Wait4(stopped, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
			t.Fatalf("process %d: status %v, error %v", stopped, status, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // if the hang is not detected
		if _, err := engine.Collect(e.Generate(ctx, req)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
		if next := pid(t, e); next == stopped {
			t.Errorf("%s: process %d answers while it is stopped", name, stopped)
		}
		if got := log.String(); !strings.Contains(got, "model process hangs") {
			t.Errorf("%s: the log does not say so:\n%s", name, got)
		}
	}
}

// TestMemoryLimit: a process that exceeds its memory limit crashes, and the next one
// answers.
func TestMemoryLimit(t *testing.T) {
	e, log := supervise(t, 0, puppetModel("m", "puppet"))
	said, err := ask(t, e, order("m", "limit 256"))
	if err != nil {
		t.Fatal(err)
	}
	if said != "<nil>" {
		t.Logf("no limit of memory here: %s", said)
		return
	}
	if said, err := ask(t, e, order("m", "eat 16")); err != nil || said != "16" {
		t.Errorf("a little: %q, %v", said, err)
	}
	if _, err := ask(t, e, order("m", "eat 4096")); code(t, err) != engine.CodeEngineCrashed || !engine.AsError(err).NoRetry {
		t.Errorf("too much: %v, want code %q", err, engine.CodeEngineCrashed)
	}
	pid(t, e)
	if got := log.String(); !strings.Contains(got, "out of memory") {
		t.Errorf("the log does not say why:\n%s", got)
	}
}

// TestProcessIsConfined: what holds the process of a model, by one example;
// package confine tries the rest.
func TestProcessIsConfined(t *testing.T) {
	has := confine.Supported()
	t.Logf("this system has: %s %s", has, has.Without)
	e, _ := supervise(t, 0, puppetModel("m", "puppet"))
	said, err := ask(t, e, order("m", "read /etc/passwd"))
	if err != nil || (has.Files > 0) != strings.Contains(said, "permission denied") {
		t.Errorf("reading a file: %q, %v", said, err)
	}
}
